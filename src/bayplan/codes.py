"""Every number of an input fault: what it means and what to do. `docs/errors.md` is made from this."""

from collections.abc import Mapping
from typing import NamedTuple


class Code(NamedTuple):
    """One line of `docs/errors.md`."""

    meaning: str
    action: str


FILES: Mapping[str, Code] = {  # E10..: the file as a whole
    "E1001": Code("the file cannot be opened", "check the path and the permissions"),
    "E1002": Code("the path is a folder", "give a file inside it"),
    "E1003": Code("the file is empty", "check that whatever made it has finished"),
    "E1004": Code("the file is binary, not text", "give the JSON, YAML or text file; .gz is unpacked, other archives are not"),
    "E1005": Code("the text is not UTF-8", "save the file as UTF-8"),
    "E1006": Code("the JSON is malformed or cut off", "look at the line and column that the message names"),
    "E1007": Code("the YAML is malformed or cut off", "look at the line and column that the message names"),
    "E1008": Code("the gzip stream is damaged or cut off", "copy or compress the file again"),
    "E1009": Code(
        "objects or lists are nested too deeply", "no format here needs more than a dozen levels: check what made the file"
    ),
    "E1010": Code("an object has the same key twice", "remove one of the two; none is dropped silently"),
    "E1011": Code("the kind of file is not recognised", "see docs/formats.md for the files that can be read"),
    "E1012": Code("the format version is not known", 'this release reads version 1: write "bayplan": 1'),
    "E1013": Code("the TOML is malformed", "look at the line and column that the message names"),
    "E1014": Code("an archive of Parquet tables is damaged or incomplete", "copy the file again, or write it again with convert"),
    "E1015": Code("a Parquet table lacks a column, or has a wrong one", "see docs/formats.md for the columns of each table"),
}

VALUES: Mapping[str, Code] = {  # E11..: one value is not what it should be
    "E1101": Code("a value has the wrong type", "write the type that the message asks for"),
    "E1102": Code("a number is negative", "write zero or more"),
    "E1103": Code("a number is NaN or infinite", "write a finite number, or leave the key out"),
    "E1104": Code("an amount is not a quantity", "write a number with an optional suffix: 500m, 1.5Gi, 1e3"),
    "E1105": Code("an amount is finer than one base unit", "round it, or raise the scale of the resource"),
    "E1106": Code("an amount is beyond 2^63 - 1 base units", "check the suffix, or lower the scale of the resource"),
    "E1107": Code("a key is missing", "add it"),
    "E1108": Code("a key is not known", "correct the spelling or remove it; nothing is ignored silently"),
    "E1109": Code("a value is not one of the choices", "take one of those that the message lists"),
    "E1110": Code("a number is out of its range", "take one in the range that the message names"),
    "E1111": Code("a list or an object is empty or has the wrong length", "fill it, or leave the key out"),
    "E1112": Code("a number has too many digits", "amounts are at most 2^63 - 1; check what made the file"),
    "E1113": Code("amounts add up beyond 2^63 - 1 base units", "check the suffixes, or lower the scale of the resource"),
    "E1114": Code("a safety capacity is above the capacity", "lower it, or leave it out: then it is the capacity"),
    "E1115": Code("a machine has no capacity of any resource", "give it some, or remove it; zero of one resource is fine"),
    "E1116": Code("a limit is below the request", "raise the limit or lower the request"),
    "E1117": Code("traffic goes from a workload to itself", "state the clique of its service instead"),
    "E1118": Code("two ratios contradict each other", "state one direction of each pair of resources"),
    "E1119": Code("a ratio is of a resource to itself", "name two resources"),
}

NAMES: Mapping[str, Code] = {  # E12..: a name is missing, double or unknown
    "E1201": Code("two things of one kind have the same name", "rename one of them"),
    "E1202": Code("a name is not known", "correct the spelling, or add what it names"),
    "E1203": Code("a list names the same thing twice", "remove one of the two"),
    "E1204": Code("a level is called 'machine'", "remove it: that level is always there"),
    "E1205": Code("a name has a control character", "remove it; the message shows it as \\u and four digits"),
}

RULES: Mapping[str, Code] = {  # E13..: a rule says nothing, or what cannot be
    "E1301": Code("a service is to spread over more groups than it has containers", "lower the minimum, or add containers"),
    "E1302": Code("a service is to spread over more groups than there are", "lower the minimum, or choose a finer level"),
    "E1303": Code("two co-locate rules share a container", "join them to one rule that names all containers"),
    "E1304": Code("co-located containers may not run together", "change the co-locate rule or the one that the message names"),
    "E1305": Code("co-located containers have no allowed machine in common", "widen the machine sets of their allow rules"),
    "E1306": Code("co-located containers are together larger than every machine", "split the group, or add a larger machine"),
    "E1307": Code("an allow rule leaves no machine", "put machines into the set, or let the sets overlap"),
    "E1308": Code("a service depends on one without containers", "add containers to it, or remove the rule"),
    "E1309": Code("a workload interferes with itself to the point that it may run nowhere", "set the limit to at least 1"),
    "E1310": Code("a resource is transient in two modes", "keep one of the two rules"),
    "E1311": Code("a service depends on itself, which says nothing", "name another service, or remove the rule"),
}

PLACEMENTS: Mapping[str, Code] = {  # E14..: a placement or a plan does not fit its cluster
    "E1401": Code(
        "`on` does not have one entry for each container", "add or remove entries; null is a container without machine"
    ),
    "E1402": Code("a placement names an unknown container", "check that it was made for this cluster"),
    "E1403": Code("a placement names an unknown machine", "check that it was made for this cluster"),
}

REQUESTS: Mapping[str, Code] = {  # E15..: timed requests, cluster requests, zones, plans
    "E1501": Code("a request ends before or when it starts", "times are half-open, (start, end]: write an end after the start"),
    "E1502": Code("the columns have different lengths", "give every request a value in each column"),
    "E1503": Code("a request name occurs twice", "rename one of the two"),
    "E1504": Code(
        "a request asks for a resource that is not declared, or leaves one out",
        "list the resource under resources, or correct the name",
    ),
    "E1505": Code(
        "a demand or a capacity cannot be held",
        "amounts are whole base units below 2^63: check the quantity and the scale of the resource",
    ),
    "E1506": Code("a zone name occurs twice", "rename one of the two"),
    "E1507": Code("a link names a zone that does not exist", "add the zone or correct the name"),
    "E1508": Code("a link goes from a zone to itself, or occurs twice", "remove it: traffic inside a zone needs no link"),
    "E1509": Code("a traffic matrix is not square, or not of the size of its members", "give one row and one column per member"),
    "E1510": Code("a container sends traffic to itself", "write 0 on the diagonal"),
    "E1511": Code("a request starts before it arrives", "write arrival <= start"),
    "E1512": Code("a member name occurs twice in one request", "rename one of the two"),
    "E1513": Code("an answer names a request that does not exist", "answer for the file that holds the request"),
    "E1514": Code(
        "an answer names a machine, a zone or a member that does not exist, or leaves a member out", "use the names of the input"
    ),
    "E1515": Code("a step of a plan names a container or machine that does not exist", "make the plan for this cluster"),
    "E1516": Code("a plan has the same step twice in one batch", "remove one of the two"),
    "E1517": Code("a request of a stream arrives before the one that came before it", "sort the stream by arrival"),
    "E1518": Code("a member of a request fits into no zone, even if all are empty", "lower its demand, or add a larger zone"),
    "E1519": Code("lines of one request contradict each other", "say the times and the value once, and each member once"),
    "E1520": Code("a stream has no zones", "begin it with a header line, or give a file with --zones"),
    "E1521": Code("a plan was made for another state of the cluster", "make the plan again for the cluster as it is now"),
    "E1522": Code("a goal is not well stated", "see docs/verbs/plan.md for the keys of a goal and their ranges"),
    "E1523": Code(
        "the name of a cluster of a fleet cannot be that of a file",
        "use letters, digits, '.', '-' and '_': its plan gets that name",
    ),
    "E1524": Code("a limit of moves is neither a number nor a share", "write a whole number such as 50, or a share such as 5%"),
    "E1525": Code("a cluster has neither a file nor a context, or both", "name one of the two; namespaces go with a context"),
}

RASA: Mapping[str, Code] = {  # E16..: RASA clusters and solutions
    "E1601": Code("a service, container or machine name occurs twice", "rename one of the two"),
    "E1602": Code("a service or machine name is not known", "correct the name or add what it names"),
    "E1603": Code("a container is placed on two machines", "remove it from one of them"),
    "E1604": Code("a machine lists a container that no service has", "add it to the ContainerList of its service, or remove it"),
    "E1605": Code(
        "a service has traffic to itself", "remove the entry: replicas of one service have no traffic of their own here"
    ),
    "E1606": Code(
        "the amounts of a resource, or the traffic of a pair, are too large",
        "all amounts together stay below 2^53 as written, the traffic of a pair at 10^15",
    ),
    "E1607": Code("a machine has no capacity at all", "give it some cpu or memory, or remove it"),
}

GMRP: Mapping[str, Code] = {  # E17..: GMRP models, assignments and solutions
    "E1701": Code("a token is not a whole number", "write digits only, separated by spaces or line ends"),
    "E1702": Code("the file ends too early", "check the count that the message names, or copy the file again"),
    "E1703": Code("numbers are left over at the end", "check the counts in the file"),
    "E1704": Code("a number is out of its range", "amounts, weights and counts are zero or more; a transient flag is 0 or 1"),
    "E1705": Code("a number names a machine, service or resource that does not exist", "all of them are counted from 0"),
    "E1706": Code("the initial assignment is missing", "put assignment_X.txt beside model_X.txt, or name the file"),
    "E1707": Code("an assignment does not have one machine per process", "check that it belongs to this model"),
    "E1708": Code("a sum overflows int64", "scale the amounts of this resource down"),
    "E1709": Code("a machine has no capacity of any resource", "give it some, or remove it; zero of one resource is fine"),
    "E1710": Code("a safety capacity is above the capacity", "lower it to the capacity at most"),
    "E1711": Code(
        "a service is to spread over more locations than there are, or than it has processes", "lower its spread minimum"
    ),
    "E1712": Code("a service depends on one without processes", "give that one a process, or remove the dependency"),
}

TRACES: Mapping[str, Code] = {  # E18..: the traces
    "E1801": Code("a file of the trace is missing", "give the folder that holds the files named in docs/formats.md"),
    "E1802": Code("a column of the trace is missing", "check that the file is the one described in docs/formats.md"),
    "E1803": Code("a file of the trace cannot be read", "copy it again"),
    "E1804": Code(
        "a value of the trace is missing, negative, not finite or too large",
        "check that the file is the one described in docs/formats.md",
    ),
    "E1805": Code(
        "a row names an application or machine that does not exist",
        "the files of a trace belong together: take them from one copy",
    ),
    "E1806": Code("a name occurs twice in the trace", "check that the file is the one described in docs/formats.md"),
    "E1807": Code("a lifetime of the trace is empty or its bounds are in the wrong order", "leave the row out"),
    "E1808": Code("a machine of the trace has no capacity of any resource", "leave the row out"),
}

SAMPLES: Mapping[str, Code] = {  # E19..: tables, of samples and of streams
    "E1901": Code("a line of a table has more or fewer cells than its header", "add or remove cells; quote texts with commas"),
    "E1902": Code("a table cannot be split into cells", "close the quotes, and double those inside a quoted text"),
}

ADMISSION: Mapping[str, Code] = {  # E20..: what a live admission is asked
    "E2001": Code("a request arrives or starts in the past", "offer it with an arrival and a start from now on"),
    "E2002": Code("offers are out of order: one arrives before the last one", "offer requests in the order of their arrival"),
    "E2003": Code("a request ends before or when it starts", "times are half-open, (start, end]: give an end after the start"),
    "E2004": Code("a request has no members", "give it at least one"),
    "E2005": Code("a member fits into no zone, even if all were empty", "lower its demand, or add a larger zone"),
    "E2006": Code("a value, a demand or traffic is negative", "give zero or more"),
    "E2007": Code(
        "a value, an amount or a time is not a finite number, or a demand not a whole one",
        "give finite numbers, demands in whole base units",
    ),
    "E2008": Code(
        "demand or traffic has the wrong shape",
        "give (member, resource) demand with all resources of the zones, and (member, member) traffic",
    ),
    "E2009": Code("a request of this name runs, or is booked", "release it first, wait for its end, or take another name"),
    "E2010": Code("no request of this name runs or is booked", "check the name; what has ended needs no release"),
    "E2011": Code("a time lies in the past", "time only goes forward: give now or later"),
    "E2012": Code("a time lies too far ahead for its slots to be held", "use longer slots, or offer the request later"),
    "E2013": Code("the version of a snapshot is not known", "restore it with the release that made it"),
    "E2014": Code("a snapshot is damaged", "take it again; it is data to keep, not to edit"),
    "E2015": Code("a snapshot names a zone or a link that does not exist", "take it again; its zones and loads belong together"),
    "E2016": Code(
        "what a zone has, what one request asks for in all, or its value is 2^62 or more",
        "lower the scale, or write smaller values",
    ),
}

INTERNAL: Mapping[str, Code] = {  # E21..: a fault of bayplan, not of the input
    "E2101": Code(
        "an answer is better than the bound that was proven for it",
        "report it with the input and the command, and do not rely on the bound",
    ),
}

KUBERNETES: Mapping[str, Code] = {  # E22..: objects of a Kubernetes cluster
    "E2201": Code("the JSON of kubectl is malformed or cut off", "look at the line and column that the message names"),
    "E2202": Code("an entry of a list is no object", "give the output of kubectl get -o json as it is"),
    "E2203": Code(
        "there are no nodes or no pods in the input", "kubectl get nodes,pods,... -A -o json: see docs/kubernetes/collect.md"
    ),
    "E2204": Code("an amount of an object is not a quantity", "write a number with an optional suffix: 500m, 1.5Gi, 1e3"),
}

EXTENDER: Mapping[str, Code] = {  # E25..: what a scheduler sends to the extender
    "E2501": Code("the body of a request is not JSON", "send what kube-scheduler sends: one JSON object"),
    "E2502": Code("the body of a request is no ExtenderArgs", "send a pod, and node names or whole nodes, as kube-scheduler"),
    "E2503": Code("the body of a request is too long", "set nodeCacheCapable: true, so that only the names of nodes are sent"),
    "E2504": Code("the body of a request is no AdmissionReview", "send a new pod, as an API server does"),
}

MEASUREMENTS: Mapping[str, Code] = {  # E26..: what Prometheus measured
    "E2601": Code(
        "a query gives something else than one value for each series", "use an instant vector, such as sum by (...) (rate(...))"
    ),
    "E2602": Code("a label that --traffic-labels names is in no series of the query", "keep it: add it to the `by` of the query"),
    "E2603": Code("a measured rate is NaN, infinite or negative", "correct the query: rate() of a counter is never any of these"),
}

SERVICE: Mapping[str, Code] = {  # E27..: what is asked of the service over HTTP
    "E2701": Code(
        "there is no such path or thing", "check the address: /openapi.json lists every path, and each area lists its things"
    ),
    "E2702": Code("the path does not know this method", "use one of those that the answer's Allow header names"),
    "E2703": Code("a token is missing or wrong", "send the header Authorization: Bearer TOKEN, with a token of the server"),
    "E2704": Code("the token may only read", "use an operator's token"),
    "E2705": Code("a body is too long", "send less, or raise the limit: bayplan serve --max-body"),
    "E2706": Code("there are too many requests", "wait as long as the answer's Retry-After header says, then try again"),
    "E2707": Code("a request takes too long to arrive or to be answered", "send it faster, or ask for less at a time"),
    "E2708": Code("the encoding or the type of a body is not known", "send JSON as application/json, without Content-Encoding"),
    "E2709": Code("headers of a request contradict each other or cannot be read", "send each of them once, as HTTP/1.1 says"),
    "E2710": Code(
        "a request comes from another site, or for another host",
        "open the service by the address that it printed; pages of other sites may not use it",
    ),
    "E2711": Code("an Idempotency-Key was used for another request", "take a new key for every new request"),
    "E2712": Code("the store cannot be used now", "look at the server's log, and try again with the same Idempotency-Key"),
    "E2713": Code("another server decides for this admission", "ask that server, or wait until its lease has run out"),
    "E2714": Code("a thing of this name is there already", "take another name, or delete the one that is there"),
    "E2715": Code("an option has an impossible value", "take one that the message lists"),
    "E2716": Code("the service failed", "report it with the line of the server's log that has the same request number"),
    "E2717": Code("the service ends", "try again in a moment, or ask another server"),
    "E2718": Code(
        "a logged verdict cannot be decided again", "start the release that wrote the log, end it in order, then this one"
    ),
    # snapshots and jobs
    "E2731": Code(
        "a job has no such option", "take one that the message lists: they are the arguments of the library's function"
    ),
    "E2732": Code("an option of a job cannot be used", "send what the message expects"),
    "E2733": Code("an option that a job needs is missing", "state it"),
    "E2734": Code("there is no such verb", "take one that the message lists; GET /v1/verbs describes them"),
    "E2735": Code("there is no such snapshot", "send it first: POST /v1/snapshots answers with its id"),
    "E2736": Code("a snapshot holds something else than the verb is about", "send what the message expects"),
    "E2737": Code("there is no such job", "GET /v1/jobs lists those that are kept; old ones are pruned"),
    "E2738": Code("a job has no such file yet, or never will", "wait until it has ended; not every verb has every file"),
    "E2739": Code("too many jobs are waiting", "wait as long as the answer's Retry-After header says, then try again"),
    "E2740": Code("a snapshot is used by a job that has not ended", "wait for the job, or cancel it"),
    "E2741": Code("a snapshot is too large", "send less, or raise the limit of the server"),
    "E2742": Code(
        "a snapshot could not be read in time, or takes too much memory", "send less at a time, or check what made the file"
    ),
    "E2743": Code("a job has not ended", "wait for it, or cancel it"),
    "E2744": Code("the process of a job ended without an answer", "look at the server's log; it may have been short of memory"),
    "E2745": Code("a request is not what the document of the interface says", "send what the message expects; see /openapi.json"),
    "E2746": Code("a job met an error that was not expected", "report it with the snapshot, the options and the server's log"),
    # the page
    "E2750": Code("the service knows no loop", "start it with the record of one: bayplan serve --record FILE"),
    "E2751": Code("a job has no plan that a loop can carry out", "make one: a job of plan, which ends with its answer"),
}

CODES: Mapping[str, Code] = {
    **FILES,
    **VALUES,
    **NAMES,
    **RULES,
    **PLACEMENTS,
    **REQUESTS,
    **RASA,
    **GMRP,
    **TRACES,
    **SAMPLES,
    **ADMISSION,
    **INTERNAL,
    **KUBERNETES,
    **EXTENDER,
    **MEASUREMENTS,
    **SERVICE,
}
