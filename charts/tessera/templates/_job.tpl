{{/* A Job of the release: takes root, name, kind (hook or job), weight, values, args and env. As an ordinary Job its name
     has a digest of its pod, because the pod of a Job cannot be changed. */}}
{{- define "tessera.job" -}}
{{- $root := .root -}}
{{- $isHook := eq .kind "hook" -}}
{{- $hook := dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-weight" .weight "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" -}}
{{- $annotations := merge (dict) .values.annotations (ternary $hook dict $isHook) -}}
{{- $pod := include "tessera.jobPod" . -}}
{{- $digest := $pod | sha256sum | trunc 8 -}}
{{- $objectName := include "tessera.objectName" . -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "tessera.metadata" (dict "root" $root "name" .name "annotations" $annotations "objectName" (ternary $objectName (printf "%s-%s" $objectName $digest) $isHook)) | nindent 2 }}
spec:
  backoffLimit: {{ .values.backoffLimit }}
  activeDeadlineSeconds: {{ .values.activeDeadlineSeconds }}
  {{- if not $isHook }}
  ttlSecondsAfterFinished: {{ int64 .values.ttlSecondsAfterFinished }}
  {{- end }}
  template:
    {{- $pod | nindent 4 }}
{{- end -}}

{{- define "tessera.jobPod" -}}
{{- $root := .root -}}
{{- $component := .root.Values.defaults -}}
metadata:
  labels:
    {{- include "tessera.podLabels" . | nindent 4 }}
spec:
  {{- include "tessera.podSpec" (dict "root" $root "component" $component) | nindent 2 }}
  restartPolicy: Never
  containers:
    - name: {{ .name }}
      image: {{ include "tessera.image" (dict "root" $root "withChromium" false) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args:
        {{- toYaml .args | nindent 8 }}
      env:
        {{- .env | nindent 8 }}
        {{- with $component.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $component.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      resources:
        {{- toYaml (default $component.resources .values.resources) | nindent 8 }}
      securityContext:
        {{- toYaml $component.securityContext | nindent 8 }}
      volumeMounts:
        {{- include "tessera.volumeMounts" (dict "root" $root) | nindent 8 }}
        {{- with $component.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- include "tessera.volumes" (dict "root" $root "scratchSize" $component.scratchSize) | nindent 4 }}
    {{- with $component.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
