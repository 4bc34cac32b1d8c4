{{/* What the code declares of the services that this release has: what each calls, and the settings it reads. */}}
{{- define "tessera.services" -}}
{{- $services := (.Files.Get "files/services.json" | fromJson).services -}}
{{- $installed := dict -}}
{{- range $name, $declared := $services -}}
{{- $own := index $.Values.services $name | default dict -}}
{{- if ne (toString $own.enabled) "false" -}}
{{- $_ := set $installed $name $declared -}}
{{- end -}}
{{- end -}}
{{- toJson $installed -}}
{{- end -}}

{{/* One service's values: its own over the defaults. Maps merge, lists replace, false and 0 count. */}}
{{- define "tessera.component" -}}
{{- $own := index .root.Values.services .name | default dict -}}
{{- mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own) | toJson -}}
{{- end -}}

{{/* "true" where more than one replica can run at a time on purpose. */}}
{{- define "tessera.canBeMany" -}}
{{- if eq .autoscaling.kind "none" -}}
{{- gt (int .replicas) 1 -}}
{{- else -}}
{{- gt (int .autoscaling.maxReplicas) 1 -}}
{{- end -}}
{{- end -}}

{{/* The reference of an image. Only what starts a browser needs the one with Chromium. */}}
{{- define "tessera.image" -}}
{{- $image := .root.Values.image -}}
{{- $repository := ternary $image.chromiumRepository $image.repository .withChromium -}}
{{- $digest := ternary $image.chromiumDigest $image.digest .withChromium -}}
{{- $path := ternary $repository (printf "%s/%s" $image.registry $repository) (empty $image.registry) -}}
{{- if $digest -}}
{{- printf "%s@%s" $path $digest -}}
{{- else -}}
{{- $tag := default $image.tag (ternary $image.chromiumTag "" .withChromium) -}}
{{- printf "%s:%s" $path (default .root.Chart.AppVersion $tag) -}}
{{- end -}}
{{- end -}}
