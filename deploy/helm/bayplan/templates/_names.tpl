{{- define "bayplan.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "bayplan.selector" -}}
app.kubernetes.io/name: bayplan
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "bayplan.labels" -}}
{{ include "bayplan.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "bayplan.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "bayplan.moves" -}}
{{- if has .Values.mode (list "approve" "auto") -}}yes{{- end -}}
{{- end -}}

{{- define "bayplan.webhook" -}}
{{- if and .Values.webhook.enabled (include "bayplan.moves" .) -}}yes{{- end -}}
{{- end -}}

{{- /* Rules of a file, without its comments. */ -}}
{{- define "bayplan.rules" -}}
{{ .Files.Get (printf "rules/%s.yaml" .rules) | fromYamlArray | toYaml }}
{{- end -}}

{{- define "bayplan.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "bayplan.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
readOnlyRootFilesystem: true
{{- end -}}
