{{- define "tessera.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for the longest name of a service behind it: 63 characters are the limit of a DNS label. */}}
{{- define "tessera.fullname" -}}
{{- $name := include "tessera.name" . -}}
{{- $generated := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $generated .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of the objects of one service or Job: takes root and name. */}}
{{- define "tessera.objectName" -}}
{{- printf "%s-%s" (include "tessera.fullname" .root) .name -}}
{{- end -}}

{{- define "tessera.selector" -}}
app.kubernetes.io/name: {{ include "tessera.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "tessera.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{ include "tessera.podLabels" . }}
{{- end -}}

{{/* The version of the chart is not among them: it alone replaces no pod. */}}
{{- define "tessera.podLabels" -}}
{{ include "tessera.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: {{ include "tessera.name" .root }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The metadata of an object: takes root, name, and annotations of its own. */}}
{{- define "tessera.metadata" -}}
name: {{ .objectName | default (include "tessera.objectName" .) }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "tessera.labels" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
