{{- /* The labels that each object has besides those of the kustomize overlays. */ -}}
{{- define "nodekeeper.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- /* What selects the controller's pods. */ -}}
{{- define "nodekeeper.controller" -}}
app.kubernetes.io/name: nodekeeper
app.kubernetes.io/component: controller
{{- end }}

{{- define "nodekeeper.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "nodekeeper.replicas" -}}
{{- $default := eq .Values.controller.mode "observe" | ternary 1 2 -}}
{{ kindIs "invalid" .Values.controller.replicas | ternary $default .Values.controller.replicas }}
{{- end }}

{{- /* For 10,000 nodes, or 25,000: docs/install.md, "Resources". The heap is 60 % of the memory limit. */ -}}
{{- define "nodekeeper.controllerResources" -}}
{{- if .Values.controller.resources -}}
{{ toYaml .Values.controller.resources }}
{{- else -}}
{{- $small := le (int .Values.controller.nodes) 10000 -}}
{{- $memory := $small | ternary "512Mi" "1Gi" -}}
requests:
  cpu: {{ $small | ternary "100m" "500m" }}
  memory: {{ $memory }}
limits:
  memory: {{ $memory }}
{{- end }}
{{- end }}

{{- /*
Objects of the kustomize bases, unchanged except for labels. Arguments: root; path of the file; labels, further ones.
*/ -}}
{{- define "nodekeeper.file" -}}
{{- $labels := merge (include "nodekeeper.labels" .root | fromYaml) (.labels | default dict) -}}
{{- $text := .root.Files.Get .path -}}
{{- if not $text }}{{ fail (printf "the chart lacks %s: it must be packaged from a checkout with symbolic links" .path) }}{{ end -}}
{{- range regexSplit "(?m)^---$" $text -1 }}
{{- with fromYaml . }}
{{- $_ := set .metadata "labels" (merge dict $labels (.metadata.labels | default dict)) }}
---
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Fails if a flag of "extraArgs" is one that the chart itself sets. Arguments: name, given, and use: flag to advice. */ -}}
{{- define "nodekeeper.checkFlags" -}}
{{- range $argument := .given }}
{{- $flag := regexFind "^--[a-z-]+" $argument }}
{{- with get $.use $flag }}
{{- fail (printf "%s contains %s, but the chart sets %s: %s" $.name $argument $flag .) }}
{{- end }}
{{- end }}
{{- end }}
