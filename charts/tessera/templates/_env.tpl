{{/* Numbers are whole, and without an exponent, which Helm prints for large ones. */}}
{{- define "tessera.env.value" -}}
{{- $value := .value -}}
{{- if kindIs "float64" $value -}}{{- $value = int64 $value -}}{{- end -}}
- name: {{ .name }}
  value: {{ $value | toString | quote }}
{{ end -}}

{{- define "tessera.env.secret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ .key }}
{{ end -}}

{{/* The string of one service, or of the administrator, whom one pod with all services needs: takes root, name and component. */}}
{{- define "tessera.env.database" -}}
{{- $postgres := .root.Values.postgres -}}
{{- $secret := .component.postgresExistingSecret | default $postgres.existingSecret -}}
{{- $key := .component.postgresSecretKey | default .name -}}
{{- if has .name (list "all" "migrate") -}}
{{- $secret = $postgres.migrationExistingSecret | default $secret -}}
{{- /* The key for all services is one of theirs, and not of a Secret or key that the administrator has alone. */ -}}
{{- if or $postgres.migrationExistingSecret (ne $postgres.migrationSecretKey "migrate") (not .component.postgresSecretKey) -}}
{{- $key = $postgres.migrationSecretKey -}}
{{- end -}}
{{- end -}}
{{ include "tessera.env.secret" (dict "name" "DATABASE_URL" "secret" $secret "key" $key) }}
{{- end -}}

{{/* How a process reaches the brokers, and what it wants of topics when `tessera topics` or the doctor runs in its pod:
     takes root, and its account as values. */}}
{{- define "tessera.env.kafka" -}}
{{- $kafka := .root.Values.kafka -}}
{{ include "tessera.env.value" (dict "name" "BUS" "value" "kafka") -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_BROKERS" "value" $kafka.brokers) -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_TOPIC_PREFIX" "value" $kafka.topicPrefix) -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_TLS" "value" (ternary "on" "off" $kafka.tls.enabled)) -}}
{{- if $kafka.tls.existingSecret -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_TLS_CA" "value" "/etc/tessera/kafka/ca.crt") -}}
{{- if $kafka.tls.clientCertificate -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_TLS_CERT" "value" "/etc/tessera/kafka/tls.crt") -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_TLS_KEY" "value" "/etc/tessera/kafka/tls.key") -}}
{{- end -}}
{{- end -}}
{{- $topics := .root.Values.topics -}}
{{- if $topics.replicationFactor -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_REPLICATION_FACTOR" "value" $topics.replicationFactor) -}}
{{- end -}}
{{- if $topics.minInSyncReplicas -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_MIN_IN_SYNC_REPLICAS" "value" $topics.minInSyncReplicas) -}}
{{- end -}}
{{- if ne $kafka.sasl.mechanism "none" -}}
{{- $secret := .account.kafkaSaslExistingSecret | default $kafka.sasl.existingSecret -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_SASL_MECHANISM" "value" $kafka.sasl.mechanism) -}}
{{- with .account.kafkaSaslUsername | default $kafka.sasl.username -}}
{{ include "tessera.env.value" (dict "name" "KAFKA_SASL_USERNAME" "value" .) -}}
{{- else -}}
{{ include "tessera.env.secret" (dict "name" "KAFKA_SASL_USERNAME" "secret" $secret "key" $kafka.sasl.usernameKey) -}}
{{- end -}}
{{ include "tessera.env.secret" (dict "name" "KAFKA_SASL_PASSWORD" "secret" $secret "key" $kafka.sasl.passwordKey) -}}
{{- end -}}
{{- end -}}

{{/* The whole environment of a service: takes root, name, declared and component. */}}
{{- define "tessera.env" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $reads := .declared.settings -}}
{{- $isAll := eq .name "all" -}}
{{ include "tessera.env.value" (dict "name" "LOG_LEVEL" "value" $values.logging.level) -}}
{{ include "tessera.env.value" (dict "name" "METRICS_HOST" "value" "0.0.0.0") -}}
{{ include "tessera.env.value" (dict "name" "METRICS_PORT" "value" "9090") -}}
{{ include "tessera.env.value" (dict "name" "SHUTDOWN_DELAY" "value" (printf "%vs" .component.shutdownDelaySeconds)) -}}
{{- if not $isAll -}}
{{ include "tessera.env.value" (dict "name" "GRPC_HOST" "value" "0.0.0.0") -}}
{{ include "tessera.env.value" (dict "name" "GRPC_PORT" "value" "50051") -}}
{{- if $values.grpc.meshEncrypts -}}
{{ include "tessera.env.value" (dict "name" "GRPC_INSECURE" "value" "allow") -}}
{{- else -}}
{{ include "tessera.env.value" (dict "name" "GRPC_TLS_CERT" "value" "/etc/tessera/grpc/tls.crt") -}}
{{ include "tessera.env.value" (dict "name" "GRPC_TLS_KEY" "value" "/etc/tessera/grpc/tls.key") -}}
{{ include "tessera.env.value" (dict "name" "GRPC_TLS_CA" "value" "/etc/tessera/grpc/ca.crt") -}}
{{- end -}}
{{- end -}}
{{- $installed := include "tessera.services" $root | fromJson -}}
{{- range $called := .declared.calls -}}
{{- if hasKey $installed $called -}}
{{ include "tessera.env.value" (dict "name" (printf "%s_ADDRESS" ($called | upper | replace "-" "_")) "value" (printf "%s:50051" (include "tessera.objectName" (dict "root" $root "name" $called)))) -}}
{{- end -}}
{{- end -}}
{{ include "tessera.env.database" . -}}
{{- if not $isAll -}}
{{ include "tessera.env.kafka" (dict "root" $root "account" .component) -}}
{{- end -}}
{{- if $values.redis.existingSecret -}}
{{ include "tessera.env.value" (dict "name" "CACHE" "value" "redis") -}}
{{ include "tessera.env.secret" (dict "name" "REDIS_URL" "secret" $values.redis.existingSecret "key" "url") -}}
{{ include "tessera.env.value" (dict "name" "REDIS_PREFIX" "value" $values.redis.prefix) -}}
{{- if $values.redis.caExistingSecret -}}
{{ include "tessera.env.value" (dict "name" "REDIS_TLS_CA" "value" "/etc/tessera/redis/ca.crt") -}}
{{- end -}}
{{- end -}}
{{- $store := $values.objectStore -}}
{{- if $store.bucket -}}
{{ include "tessera.env.value" (dict "name" "FILES" "value" "s3") -}}
{{ include "tessera.env.value" (dict "name" "S3_BUCKET" "value" $store.bucket) -}}
{{ include "tessera.env.value" (dict "name" "S3_PREFIX" "value" $store.prefix) -}}
{{ include "tessera.env.value" (dict "name" "S3_REGION" "value" $store.region) -}}
{{ include "tessera.env.value" (dict "name" "S3_PATH_STYLE" "value" (ternary "on" "off" $store.pathStyle)) -}}
{{- if $store.endpoint -}}
{{ include "tessera.env.value" (dict "name" "S3_ENDPOINT" "value" $store.endpoint) -}}
{{- end -}}
{{- if $store.caExistingSecret -}}
{{ include "tessera.env.value" (dict "name" "S3_TLS_CA" "value" "/etc/tessera/files/ca.crt") -}}
{{- end -}}
{{- if $store.existingSecret -}}
{{ include "tessera.env.secret" (dict "name" "S3_ACCESS_KEY_ID" "secret" $store.existingSecret "key" "accessKeyId") -}}
{{ include "tessera.env.secret" (dict "name" "S3_SECRET_ACCESS_KEY" "secret" $store.existingSecret "key" "secretAccessKey") -}}
{{- end -}}
{{- end -}}
{{- if $values.telemetry.otlpEndpoint -}}
{{ include "tessera.env.value" (dict "name" "OTEL_EXPORTER_OTLP_ENDPOINT" "value" $values.telemetry.otlpEndpoint) -}}
{{- end -}}
{{- if has "HTTP_PORT" $reads -}}
{{ include "tessera.env.value" (dict "name" "HTTP_HOST" "value" "0.0.0.0") -}}
{{ include "tessera.env.value" (dict "name" "HTTP_PORT" "value" "8000") -}}
{{- end -}}
{{- if has "BASE_URL" $reads -}}
{{ include "tessera.env.value" (dict "name" "BASE_URL" "value" $values.baseUrl) -}}
{{- end -}}
{{- /* The name that the command knows, too, which is run in the pod. */ -}}
{{- if and (has "OPERATOR_KEY" $reads) $values.operatorKey.existingSecret -}}
{{ include "tessera.env.secret" (dict "name" "TESSERA_OPERATOR_KEY" "secret" $values.operatorKey.existingSecret "key" "operatorKey") -}}
{{- end -}}
{{- if and (has "OIDC_ISSUER" $reads) $values.oidc.issuer -}}
{{ include "tessera.env.value" (dict "name" "OIDC_ISSUER" "value" $values.oidc.issuer) -}}
{{ include "tessera.env.value" (dict "name" "OIDC_CLAIM" "value" $values.oidc.claim) -}}
{{ include "tessera.env.secret" (dict "name" "OIDC_CLIENT_ID" "secret" $values.oidc.existingSecret "key" "clientId") -}}
{{ include "tessera.env.secret" (dict "name" "OIDC_CLIENT_SECRET" "secret" $values.oidc.existingSecret "key" "clientSecret") -}}
{{- end -}}
{{- range $setting, $value := .component.settings -}}
{{ include "tessera.env.value" (dict "name" $setting "value" $value) -}}
{{- end -}}
{{- with .component.extraEnv -}}
{{ toYaml . }}
{{ end -}}
{{- end -}}
