{{/* What the code declares of the services that this release has: what each calls, and the settings it reads. With one pod
     that is `all`, which calls nobody and reads the settings of all. */}}
{{- define "tessera.services" -}}
{{- $services := (.Files.Get "files/services.json" | fromJson).services -}}
{{- $installed := dict -}}
{{- range $name, $declared := $services -}}
{{- $own := index $.Values.services $name | default dict -}}
{{- if ne (toString $own.enabled) "false" -}}
{{- $_ := set $installed $name $declared -}}
{{- end -}}
{{- end -}}
{{- if .Values.onePod.enabled -}}
{{- $settings := list -}}
{{- range $services -}}{{- $settings = concat $settings .settings -}}{{- end -}}
{{- $installed = dict "all" (dict "calls" list "settings" (uniq $settings)) -}}
{{- end -}}
{{- toJson $installed -}}
{{- end -}}

{{/* One service's values: its own over the defaults. Maps merge, lists replace, false and 0 count. Two processes of one pod
     would share its volume, so it is replaced and not rolled. */}}
{{- define "tessera.component" -}}
{{- $values := .root.Values -}}
{{- $component := deepCopy $values.defaults -}}
{{- if eq .name "all" -}}
{{- range $values.services -}}
{{- $component = mergeOverwrite $component (pick (deepCopy .) "service" "settings" "scratchSize") -}}
{{- $component = mergeOverwrite $component (dict "podSecurityContext" (pick (.podSecurityContext | default dict | deepCopy) "seccompProfile")) -}}
{{- end -}}
{{- $component = mergeOverwrite $component (dict "replicas" 1 "resources" $values.onePod.resources "autoscaling" (dict "kind" "none")) -}}
{{- $_ := set $component "strategy" (dict "type" "Recreate") -}}
{{- else -}}
{{- $component = mergeOverwrite $component (deepCopy (index $values.services .name | default dict)) -}}
{{- end -}}
{{- toJson $component -}}
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
