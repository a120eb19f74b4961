{{/* One template for every pod of the release: workloads, Jobs, toolbox and helm test. */}}

{{/* Section of a Job, of the toolbox or of helm test: what `defaults` says for every pod, under what the section itself says. dict: root, name */}}
{{- define "coherence.task" -}}
{{- $values := .root.Values -}}
{{- $base := pick $values.defaults "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" "hostAliases" "dnsPolicy" "dnsConfig"
      "podLabels" "extraEnv" "extraEnvFrom" "extraVolumes" "extraVolumeMounts" -}}
{{- if has .name (list "workspace" "tests") -}}{{- $base = merge (pick $values.migrations "podAnnotations" "resources") $base -}}{{- end -}}
{{- toYaml (mustMergeOverwrite (deepCopy $base) (deepCopy (get $values .name))) -}}
{{- end -}}

{{/* `env` without duplicates, as YAML: what comes later wins. dict: env, over */}}
{{- define "coherence.mergeEnv" -}}
{{- $names := list -}}
{{- range .over -}}{{- $names = append $names .name -}}{{- end -}}
{{- $env := list -}}
{{- range .env -}}{{- if not (has .name $names) -}}{{- $env = append $env . -}}{{- end -}}{{- end -}}
{{- toYaml (concat $env .over) -}}
{{- end -}}

{{/* A container of the platform's image, as YAML. dict: root, section, container (name, command, env, and what Kubernetes knows besides) */}}
{{- define "coherence.container" -}}
{{- $root := .root -}}
{{- $section := .section -}}
{{- $container := deepCopy .container -}}
{{- $mounts := concat (list (dict "name" "tmp" "mountPath" "/tmp")) ($container.volumeMounts | default list) -}}
{{- $env := $container.env | default list -}}
{{- if $root.Values.secrets.mountAsFiles -}}
{{- $plain := list -}}
{{- range $env -}}{{- if not .valueFrom -}}{{- $plain = append $plain . -}}{{- end -}}{{- end -}}
{{- if lt (len $plain) (len $env) -}}
{{- $mounts = append $mounts (dict "name" (printf "secrets-%s" $container.name) "mountPath" "/etc/coherence/secrets" "readOnly" true) -}}
{{- $plain = append $plain (dict "name" "SECRETS_DIR" "value" "/etc/coherence/secrets") -}}
{{- end -}}
{{- $env = $plain -}}
{{- end -}}
{{- if include "coherence.caVolume" $root -}}
{{- $mounts = append $mounts (dict "name" "ca-bundle" "mountPath" "/etc/coherence/ca" "readOnly" true) -}}
{{- $env = append $env (dict "name" "NODE_EXTRA_CA_CERTS" "value" "/etc/coherence/ca/ca.crt") -}}
{{- end -}}
{{- if include "coherence.natsSources" . -}}
{{- $mounts = append $mounts (dict "name" (printf "nats-%s" $container.name) "mountPath" "/etc/coherence/nats" "readOnly" true) -}}
{{- $env = fromYamlArray (include "coherence.mergeEnv" (dict "env" (fromYamlArray (include "coherence.natsEnv" .)) "over" $env)) -}}
{{- end -}}
{{- $container = omit $container "natsUsers" -}}
{{- $env = fromYamlArray (include "coherence.mergeEnv" (dict "env" $env "over" ($section.extraEnv | default list))) -}}
{{- $_ := set $container "image" (include "coherence.platformImage" $root) -}}
{{- $_ := set $container "imagePullPolicy" $root.Values.image.pullPolicy -}}
{{- $_ := set $container "securityContext" (mustMergeOverwrite (deepCopy $root.Values.containerSecurityContext) (deepCopy ($section.containerSecurityContext | default dict))) -}}
{{- $_ := set $container "resources" ($section.resources | default dict) -}}
{{- $_ := set $container "env" $env -}}
{{- with concat ($container.envFrom | default list) ($section.extraEnvFrom | default list) -}}{{- $_ := set $container "envFrom" . -}}{{- end -}}
{{- $_ := set $container "volumeMounts" (concat $mounts ($section.extraVolumeMounts | default list)) -}}
{{- toYaml $container -}}
{{- end -}}

{{/* Volume with the secret settings of a container, each a file of its name, as YAML; empty when it has none. dict: container */}}
{{- define "coherence.secretVolume" -}}
{{- $sources := list -}}
{{- range .container.env | default list -}}
{{- if .valueFrom -}}
{{- $reference := .valueFrom.secretKeyRef -}}
{{- $source := dict "name" $reference.name "items" (list (dict "key" $reference.key "path" .name)) -}}
{{- if $reference.optional -}}{{- $_ := set $source "optional" true -}}{{- end -}}
{{- $sources = append $sources (dict "secret" $source) -}}
{{- end -}}
{{- end -}}
{{- with $sources -}}{{- toYaml (dict "name" (printf "secrets-%s" $.container.name) "projected" (dict "defaultMode" 292 "sources" .)) -}}{{- end -}}
{{- end -}}

{{/* Volume with the certificates of global.caBundle, as YAML; empty without. */}}
{{- define "coherence.caVolume" -}}
{{- with .Values.global.caBundle -}}
{{- $items := list (dict "key" .key "path" "ca.crt") -}}
{{- if .configMap -}}
{{- toYaml (dict "name" "ca-bundle" "configMap" (dict "name" .configMap "items" $items)) -}}
{{- else if .secret -}}
{{- toYaml (dict "name" "ca-bundle" "secret" (dict "secretName" .secret "items" $items)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* `template` of every workload and Job. dict: root, component, section, containers and initContainers (see coherence.container), volumes, annotations,
     spec (further fields), tmpSize, noAccount (for a pod that may start before the release's account exists) */}}
{{- define "coherence.podTemplate" -}}
{{- $root := .root -}}
{{- $section := .section -}}
{{- $metadata := dict "labels" (mustMergeOverwrite (fromYaml (include "coherence.labels" .)) (deepCopy ($section.podLabels | default dict))) -}}
{{- with mustMergeOverwrite (deepCopy (.annotations | default dict)) (deepCopy ($section.podAnnotations | default dict)) -}}{{- $_ := set $metadata "annotations" . -}}{{- end -}}
{{- $spec := dict "automountServiceAccountToken" false "enableServiceLinks" false
      "securityContext" (mustMergeOverwrite (deepCopy $root.Values.podSecurityContext) (deepCopy ($section.podSecurityContext | default dict))) -}}
{{- with include "coherence.serviceAccountOf" . -}}{{- $_ := set $spec "serviceAccountName" . -}}{{- end -}}
{{- with $root.Values.global.imagePullSecrets -}}{{- $_ := set $spec "imagePullSecrets" . -}}{{- end -}}
{{- range $key := list "priorityClassName" "runtimeClassName" "nodeSelector" "tolerations" "affinity" "hostAliases" "dnsPolicy" "dnsConfig" -}}
{{- with get $section $key -}}{{- $_ := set $spec $key . -}}{{- end -}}
{{- end -}}
{{- $volumes := concat (list (dict "name" "tmp" "emptyDir" (dict "sizeLimit" (.tmpSize | default "64Mi")))) (.volumes | default list) -}}
{{- /* Sidecars of the user begin before what may need them. */ -}}
{{- $lists := dict "initContainers" ($section.initContainers | default list) "containers" list -}}
{{- range $kind := list "initContainers" "containers" -}}
{{- $containers := get $lists $kind -}}
{{- range $container := get $ $kind | default list -}}
{{- $containers = append $containers (fromYaml (include "coherence.container" (dict "root" $root "section" $section "container" $container))) -}}
{{- if $root.Values.secrets.mountAsFiles -}}
{{- with include "coherence.secretVolume" (dict "container" $container) -}}{{- $volumes = append $volumes (fromYaml .) -}}{{- end -}}
{{- end -}}
{{- with include "coherence.natsVolume" (dict "root" $root "container" $container) -}}{{- $volumes = append $volumes (fromYaml .) -}}{{- end -}}
{{- end -}}
{{- $_ := set $lists $kind $containers -}}
{{- end -}}
{{- with get $lists "initContainers" -}}{{- $_ := set $spec "initContainers" . -}}{{- end -}}
{{- $_ := set $spec "containers" (concat (get $lists "containers") ($section.extraContainers | default list)) -}}
{{- with include "coherence.caVolume" $root -}}{{- $volumes = append $volumes (fromYaml .) -}}{{- end -}}
{{- $_ := set $spec "volumes" (concat $volumes ($section.extraVolumes | default list)) -}}
{{- toYaml (dict "metadata" $metadata "spec" (mustMergeOverwrite $spec (deepCopy (.spec | default dict)))) -}}
{{- end -}}

{{/* Account of a pod; empty for the namespace's default. dict: root, component, section, noAccount */}}
{{- define "coherence.serviceAccountOf" -}}
{{- $own := .section.serviceAccount | default dict -}}
{{- if $own.create -}}
{{- $own.name | default (printf "%s-%s" (include "coherence.fullname" .root) .component) -}}
{{- else if $own.name -}}
{{- $own.name -}}
{{- else if not .noAccount -}}
{{- include "coherence.serviceAccountName" .root -}}
{{- end -}}
{{- end -}}

{{/* Annotations of an object, as YAML with the key, or nothing. dict: own, section */}}
{{- define "coherence.annotations" -}}
{{- with mustMergeOverwrite (deepCopy (.own | default dict)) (deepCopy (.section.annotations | default dict)) -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Ten characters of what a Job does, for its name: a Job cannot be changed, and with another image or other values it is another one. dict: any */}}
{{- define "coherence.jobHash" -}}
{{- toJson . | sha256sum | trunc 10 -}}
{{- end -}}

{{/* Container that migrates the database, as YAML. dict: root, databases (names of components whose role it makes), audit (whether it makes that role), secretName */}}
{{- define "coherence.migrateContainer" -}}
{{- $root := .root -}}
{{- $secretName := .secretName -}}
{{- $env := list (include "coherence.secretVariable" (dict "root" $root "variable" "DATABASE_URL" "setting" "DATABASE_URL_ADMIN" "required" true "secretName" $secretName)) -}}
{{- range $name := .databases -}}
{{- $setting := printf "DATABASE_URL_%s" (upper $name) -}}
{{- $env = append $env (include "coherence.secretVariable" (dict "root" $root "variable" $setting "setting" $setting "required" true "secretName" $secretName)) -}}
{{- end -}}
{{- /* Optional: an installation without it verifies its audit logs in another way. */ -}}
{{- if .audit -}}{{- $env = append $env (include "coherence.secretVariable" (dict "root" $root "variable" "DATABASE_URL_AUDIT" "setting" "DATABASE_URL_AUDIT" "secretName" $secretName)) -}}{{- end -}}
{{- $level := dict "name" "LOG_LEVEL" "value" (get $root.Values.settings "LOG_LEVEL" | default "info") -}}
{{- $wait := dict "name" "MIGRATION_WAIT_SECONDS" "value" (int64 $root.Values.migrations.waitSeconds | toString) -}}
{{- toYaml (dict "name" "migrate" "command" (list "node" "tools/migrate.ts") "env" (concat (fromYamlArray ($env | join "\n")) (list $level $wait))) -}}
{{- end -}}

{{/* Container that makes the streams of NATS, as YAML. dict: root, secretName */}}
{{- define "coherence.streamsContainer" -}}
{{- $root := .root -}}
{{- $secretName := .secretName -}}
{{- $env := fromYamlArray (include "coherence.secretVariable" (dict "root" $root "variable" "NATS_URL" "setting" "NATS_URL_ADMIN" "required" true "secretName" $secretName)) -}}
{{- $env = append $env (dict "name" "LOG_LEVEL" "value" (get $root.Values.settings "LOG_LEVEL" | default "info")) -}}
{{- $env = append $env (dict "name" "NATS_SUBJECT_PREFIX" "value" (get $root.Values.settings "NATS_SUBJECT_PREFIX" | default "")) -}}
{{- /* Whose users it checks before the pods of a release are replaced; a pod's init container knows no other pod's credentials. */ -}}
{{- $users := list (dict "user" "admin" "suffix" "") -}}
{{- if has $root.Values.migrations.mode (list "hook" "job") -}}
{{- range $name := append (keys (fromJson (include "coherence.platform" $root)).components | sortAlpha) "cli" -}}
{{- $setting := printf "NATS_URL_%s" (upper $name) -}}
{{- $env = concat $env (fromYamlArray (include "coherence.secretVariable" (dict "root" $root "variable" $setting "setting" $setting "secretName" $secretName))) -}}
{{- $users = append $users (dict "user" $name "suffix" (printf "_%s" (upper $name)) "optional" true) -}}
{{- end -}}
{{- end -}}
{{- with $root.Values.streams.replicas -}}{{- $env = append $env (dict "name" "NATS_STREAM_REPLICAS" "value" (int64 . | toString)) -}}{{- end -}}
{{- range $stream, $bytes := $root.Values.streams.maxBytes -}}
{{- $env = append $env (dict "name" (printf "NATS_STREAM_%s_MAX_BYTES" $stream) "value" (int64 $bytes | toString)) -}}
{{- end -}}
{{- toYaml (dict "name" "streams" "command" (list "node" "tools/streams.ts") "env" $env "natsUsers" $users) -}}
{{- end -}}

{{/* Components with a database, as JSON. */}}
{{- define "coherence.databases" -}}
{{- $databases := list -}}
{{- range $name, $component := (fromJson (include "coherence.platform" .)).components -}}
{{- if hasKey $component.settings "DATABASE_URL" -}}{{- $databases = append $databases $name -}}{{- end -}}
{{- end -}}
{{- toJson $databases -}}
{{- end -}}
