{{/* A Job of the release: takes root, name, kind (hook or job), weight, values, args and env. As an ordinary Job its name
     has a digest of what it runs, because the pod of a Job cannot be changed. */}}
{{- define "tessera.job" -}}
{{- $root := .root -}}
{{- $component := .root.Values.defaults -}}
{{- $image := include "tessera.image" (dict "root" $root "withChromium" false) -}}
{{- $isHook := eq .kind "hook" -}}
{{- $hook := dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-weight" .weight "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" -}}
{{- $annotations := merge (dict) .values.annotations (ternary $hook dict $isHook) -}}
{{- $digest := list $image .args .env $root.Values.kafka $root.Values.postgres .values $component | toJson | sha256sum | trunc 8 -}}
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
    metadata:
      labels:
        {{- include "tessera.podLabels" . | nindent 8 }}
    spec:
      {{- include "tessera.podSpec" (dict "root" $root "component" $component) | nindent 6 }}
      restartPolicy: Never
      containers:
        - name: {{ .name }}
          image: {{ $image }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args:
            {{- toYaml .args | nindent 12 }}
          env:
            {{- .env | nindent 12 }}
            {{- with $component.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          {{- with $component.extraEnvFrom }}
          envFrom:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          resources:
            {{- toYaml (default $component.resources .values.resources) | nindent 12 }}
          securityContext:
            {{- toYaml $component.securityContext | nindent 12 }}
          volumeMounts:
            {{- include "tessera.volumeMounts" (dict "root" $root) | nindent 12 }}
            {{- with $component.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        {{- include "tessera.volumes" (dict "root" $root "scratchSize" $component.scratchSize) | nindent 8 }}
        {{- with $component.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end -}}
