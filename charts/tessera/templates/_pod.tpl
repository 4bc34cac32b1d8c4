{{/* Volumes with certificates: takes root and, for a service, the names whose own certificates are mounted. */}}
{{- define "tessera.volumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: {{ .scratchSize }}
{{- $values := .root.Values }}
{{- if has "all" .names }}
- name: data
  {{- if .isTest }}
  emptyDir: {}
  {{- else }}
  persistentVolumeClaim:
    claimName: {{ $values.onePod.persistence.existingClaim | default (include "tessera.objectName" (dict "root" .root "name" "all")) }}
  {{- end }}
{{- else if not $values.grpc.meshEncrypts }}
{{- range .names }}
- name: {{ printf "grpc-%s" . }}
  secret:
    secretName: {{ printf "%s%s" $values.grpc.certificateSecretPrefix . }}
{{- end }}
{{- end }}
{{- if not (has "all" .names) }}
{{- with $values.kafka.tls.existingSecret }}
- name: kafka
  secret:
    secretName: {{ . }}
{{- end }}
{{- end }}
{{- with $values.postgres.caExistingSecret }}
- name: postgres
  secret:
    secretName: {{ . }}
{{- end }}
{{- if .names }}
{{- with $values.redis.caExistingSecret }}
- name: redis
  secret:
    secretName: {{ . }}
{{- end }}
{{- with $values.objectStore.caExistingSecret }}
- name: files
  secret:
    secretName: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "tessera.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
{{- $values := .root.Values }}
{{- $isAll := eq .name "all" }}
{{- if $isAll }}
- name: data
  mountPath: /var/lib/tessera
{{- else if and .name (not $values.grpc.meshEncrypts) }}
- name: {{ printf "grpc-%s" .name }}
  mountPath: /etc/tessera/grpc
  readOnly: true
{{- end }}
{{- if and $values.kafka.tls.existingSecret (not $isAll) }}
- name: kafka
  mountPath: /etc/tessera/kafka
  readOnly: true
{{- end }}
{{- if $values.postgres.caExistingSecret }}
- name: postgres
  mountPath: /etc/tessera/postgres
  readOnly: true
{{- end }}
{{- if and .name $values.redis.caExistingSecret }}
- name: redis
  mountPath: /etc/tessera/redis
  readOnly: true
{{- end }}
{{- if and .name $values.objectStore.caExistingSecret }}
- name: files
  mountPath: /etc/tessera/files
  readOnly: true
{{- end }}
{{- end -}}

{{/* What every pod of the release has, Jobs and the test included: takes root and component. */}}
{{- define "tessera.podSpec" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- toYaml .component.podSecurityContext | nindent 2 }}
{{- with include "tessera.given" (pick .component "affinity" "dnsConfig" "dnsPolicy" "hostAliases" "initContainers" "nodeSelector" "priorityClassName" "runtimeClassName" "tolerations") }}
{{ . }}
{{- end }}
{{- end -}}

{{/* Those fields that are not empty, as Kubernetes takes them. */}}
{{- define "tessera.given" -}}
{{- $given := dict -}}
{{- range $field, $value := . -}}
{{- if $value -}}{{- $_ := set $given $field $value -}}{{- end -}}
{{- end -}}
{{- with $given -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{/* A container that runs as a service would: takes root, name, declared, component, containerName, args and, if it is not the image's, command. */}}
{{- define "tessera.container" -}}
name: {{ .containerName }}
image: {{ include "tessera.image" (dict "root" .root "withChromium" (has "CHROMIUM_PATH" .declared.settings)) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with .command }}
command:
  {{- toYaml . | nindent 2 }}
{{- end }}
args:
  {{- toYaml .args | nindent 2 }}
env:
  {{- include "tessera.env" . | nindent 2 }}
{{- with .component.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .component.resources | nindent 2 }}
securityContext:
  {{- toYaml .component.securityContext | nindent 2 }}
volumeMounts:
  {{- include "tessera.volumeMounts" . | nindent 2 }}
  {{- with .component.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
