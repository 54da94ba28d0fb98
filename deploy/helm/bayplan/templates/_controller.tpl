{{- /* The pod of the controller, in a Deployment and in a CronJob. */ -}}
{{- define "bayplan.controllerPod" -}}
serviceAccountName: {{ include "bayplan.name" . }}
automountServiceAccountToken: true
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- include "bayplan.podSecurity" . | nindent 2 }}
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: bayplan
    image: {{ include "bayplan.image" . }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
      - run
      - --in-cluster
      - --mode={{ .Values.mode }}
      {{- if eq .Values.kind "CronJob" }}
      - --turns=1
      - --listen=none
      {{- else }}
      - --every={{ .Values.every }}
      - --listen=:8080
      {{- end }}
      {{- if .Values.namespace }}
      - --namespace={{ .Values.namespace }}
      {{- else }}
      - --all-namespaces
      {{- end }}
      - --lease={{ .Release.Namespace }}/{{ .Values.lease }}
      - --store={{ .Values.store.url | default "/data/bayplan.db" }}
      {{- if and .Values.surge (include "bayplan.moves" .) }}
      - --surge
      {{- end }}
      {{- if include "bayplan.webhook" . }}
      - --webhook={{ .Release.Namespace }}/{{ include "bayplan.name" . }}-webhook
      - --webhook-certs=/certs
      - --webhook-listen=:9443
      {{- end }}
      {{- with .Values.prometheus }}
      - --prometheus={{ . }}
      - --traffic={{ $.Values.traffic }}
      {{- end }}
      {{- range .Values.options }}
      - {{ . | quote }}
      {{- end }}
    env:
      - name: BAYPLAN_CACHE_DIR
        value: /cache
      - name: HOME
        value: /tmp
      {{- with .Values.env }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- if ne .Values.kind "CronJob" }}
    ports:
      - name: metrics
        containerPort: 8080
      {{- if include "bayplan.webhook" . }}
      - name: webhook
        containerPort: 9443
      {{- end }}
    startupProbe:
      httpGet: {path: /healthz, port: metrics}
      periodSeconds: 5
      failureThreshold: 60
    livenessProbe:
      httpGet: {path: /healthz, port: metrics}
      periodSeconds: 20
      timeoutSeconds: 5
      failureThreshold: 6
    readinessProbe:
      httpGet: {path: /readyz, port: metrics}
      periodSeconds: 10
      timeoutSeconds: 5
    {{- end }}
    resources: {{- toYaml .Values.resources | nindent 6 }}
    securityContext: {{- include "bayplan.containerSecurity" . | nindent 6 }}
    volumeMounts:
      - {name: data, mountPath: /data}
      - {name: cache, mountPath: /cache}
      - {name: tmp, mountPath: /tmp}
      {{- if include "bayplan.webhook" . }}
      - {name: certs, mountPath: /certs, readOnly: true}
      {{- end }}
volumes:
  - name: data
    {{- if .Values.store.claim }}
    persistentVolumeClaim: {claimName: {{ .Values.store.claim }}}
    {{- else }}
    emptyDir: {sizeLimit: 1Gi}
    {{- end }}
  - name: cache
    emptyDir: {sizeLimit: 256Mi}
  - name: tmp
    emptyDir: {sizeLimit: 64Mi}
  {{- if include "bayplan.webhook" . }}
  - name: certs
    secret: {secretName: {{ .Values.webhook.secret | default (printf "%s-webhook" (include "bayplan.name" .)) }}}
  {{- end }}
{{- end -}}
