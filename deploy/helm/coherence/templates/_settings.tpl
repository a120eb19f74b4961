{{/* Settings of the services: which component knows which name stands in files/platform.json, which is written from the code. */}}

{{- define "coherence.platform" -}}
{{- .Files.Get "files/platform.json" -}}
{{- end -}}

{{/* Job queues that a service works, as JSON: those that its user may ask NATS for. dict: root, service */}}
{{- define "coherence.queues" -}}
{{- $queues := list -}}
{{- range regexFindAll (printf "CONSUMER\\.INFO\\.JOBS\\.%s_[a-z-]+" .service) (.root.Files.Get "files/nats.conf") -1 -}}
{{- $queues = append $queues (trimPrefix "CONSUMER.INFO.JOBS." .) -}}
{{- end -}}
{{- toJson $queues -}}
{{- end -}}

{{/* A component's section over the defaults, as YAML. dict: root, component */}}
{{- define "coherence.component" -}}
{{- toYaml (mustMergeOverwrite (deepCopy .root.Values.defaults) (deepCopy (index .root.Values.components .component | default dict))) -}}
{{- end -}}

{{/* What a component may write to a volume of this size (a quantity as the schema has them), in bytes: nine tenths, the rest is for folders and for what
    is written until it is noticed. Over the size of an emptyDir Kubernetes evicts the pod, with all that is on it. */}}
{{- define "coherence.bytesOnVolume" -}}
{{- $unit := regexFind "[A-Za-z]*$" . -}}
{{- $factors := dict "" 1 "m" 0.001 "k" 1000 "Ki" 1024 "M" 1000000 "Mi" 1048576 "G" 1000000000 "Gi" 1073741824 "T" 1000000000000 "Ti" 1099511627776 -}}
{{- mulf (trimSuffix $unit . | float64) (get $factors $unit) 0.9 | int64 -}}
{{- end -}}

{{/* Where media is reached: the ports of its Service, which stay whatever its pods listen on. dict: root, port (http, internal) */}}
{{- define "coherence.mediaUrl" -}}
{{- printf "http://%s-media:%s" (include "coherence.fullname" .root) (include "coherence.mediaPort" .port) -}}
{{- end -}}
{{- define "coherence.mediaPort" -}}
{{- get (dict "http" "8081" "internal" "8082") . -}}
{{- end -}}

{{/* Settings that are no secrets, as YAML of name → text. dict: root, component, known (from platform.json) */}}
{{- define "coherence.plainSettings" -}}
{{- $root := .root -}}
{{- $component := fromYaml (include "coherence.component" (dict "root" $root "component" .component)) -}}
{{- $fullname := include "coherence.fullname" $root -}}
{{- $given := dict "PORT" (ternary "8081" "8080" (eq .component "media")) "METRICS_PORT" "9090" "NODE_ENV" "production" "HOST" "::" "METRICS_HOST" "::"
      "INTERNAL_PORT" "8082" "MEDIA_URL" (include "coherence.mediaUrl" (dict "root" $root "port" "http")) "MEDIA_INTERNAL_URL" (include "coherence.mediaUrl" (dict "root" $root "port" "internal"))
      "WEBHOOK_SPOOL_DIR" "/var/spool/coherence" "MEDIA_SCRATCH_DIR" "/scratch" "TRANSCRIPTION_SCRATCH_DIR" "/scratch" "BACKUP_EXPECTED" $root.Values.backup.enabled -}}
{{- if eq $root.Values.profiles "evaluation" -}}
{{- $_ := set $given "S3_ENDPOINT" (printf "http://%s-object-store:7070" $fullname) -}}
{{- end -}}
{{- with $component.spool -}}
{{- $_ := set $given "WEBHOOK_SPOOL_MAX_BYTES" (include "coherence.bytesOnVolume" .size) -}}
{{- end -}}
{{- with $component.scratch -}}
{{- $largest := get (fromJson (include "coherence.platform" $root)) "recordingLimitBytes" | int64 -}}
{{- $_ := set $given "MEDIA_SCRATCH_MAX_BYTES" (min $largest (include "coherence.bytesOnVolume" .sizeLimit)) -}}
{{- end -}}
{{- $given = mustMergeOverwrite $given (deepCopy $root.Values.settings) ($component.env | default dict) -}}
{{- $result := dict -}}
{{- range $name, $setting := .known.settings -}}
{{- if and (hasKey $given $name) (not $setting.secret) -}}
{{- $value := get $given $name -}}
{{- /* Helm reads numbers as floats, and would write large ones as 1e+09. */ -}}
{{- if kindIs "float64" $value -}}{{- $value = printf "%.12f" $value | regexFind "^-?[0-9]+(\\.[0-9]*[1-9])?" -}}{{- end -}}
{{- $_ := set $result $name (toString $value) -}}
{{- end -}}
{{- end -}}
{{- toYaml $result -}}
{{- end -}}

{{/* How the gateway reaches the identity provider, as YAML of name → text, for `doctor` of the admin CLI (S1); nothing without a provider. */}}
{{- define "coherence.issuerSettings" -}}
{{- $known := get (fromJson (include "coherence.platform" .)).components "gateway" -}}
{{- $gateway := fromYaml (include "coherence.plainSettings" (dict "root" . "component" "gateway" "known" $known)) -}}
{{- toYaml (ternary (pick $gateway "OIDC_ISSUER" "OUTBOUND_ALLOWED_HOSTS") dict (ne (get $gateway "OIDC_ISSUER") "")) -}}
{{- end -}}

{{/* Name under which a component's secret setting is kept: addresses have one for each component. dict: component, name */}}
{{- define "coherence.secretSetting" -}}
{{- if has .name (list "DATABASE_URL" "NATS_URL") -}}
{{- printf "%s_%s" .name (upper .component) -}}
{{- else -}}
{{- .name -}}
{{- end -}}
{{- end -}}

{{/* One variable from a Secret: the release's, or another one that the values name. dict: root, variable, setting, required, secretName */}}
{{- define "coherence.secretVariable" -}}
{{- $place := get .root.Values.secrets.keys .setting | default .setting -}}
{{- if not (kindIs "map" $place) -}}{{- $place = dict "key" $place -}}{{- end -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      name: {{ $place.secret | default .secretName | default (include "coherence.secretName" .root) }}
      key: {{ $place.key | default .setting }}
      {{- if not .required }}
      optional: true
      {{- end }}
{{- end -}}

{{/* Not empty when a component cannot do without a secret setting. dict: plain (its settings that are no secrets), setting (from platform.json) */}}
{{- define "coherence.needsSecret" -}}
{{- if or .setting.required (and .setting.neededUnless (ne (get .plain (.setting.neededUnless | default "")) "true")) -}}yes{{- end -}}
{{- end -}}

{{/* `env` of a component's container. dict: root, component, known */}}
{{- define "coherence.env" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $plain := fromYaml (include "coherence.plainSettings" .) -}}
{{- range $name, $setting := .known.settings }}
{{- if $setting.secret }}
{{ include "coherence.secretVariable" (dict "root" $root "variable" $name "required" (include "coherence.needsSecret" (dict "plain" $plain "setting" $setting))
    "setting" (include "coherence.secretSetting" (dict "component" $component "name" $name))) }}
{{- end }}
{{- end }}
{{- range $name, $value := $plain }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* `env` of the admin CLI. */}}
{{- define "coherence.cliEnv" -}}
{{ include "coherence.secretVariable" (dict "root" . "variable" "NATS_URL" "setting" "NATS_URL_CLI" "required" true) }}
- name: NATS_SUBJECT_PREFIX
  value: {{ get .Values.settings "NATS_SUBJECT_PREFIX" | default "" | quote }}
- name: MEDIA_INTERNAL_URL
  value: {{ include "coherence.mediaUrl" (dict "root" . "port" "internal") }}
{{- end -}}

{{/* Changes when the secret settings do, and replaces the pods that read them. */}}
{{- define "coherence.secretsChecksum" -}}
{{- printf "%s %s" (include "coherence.secretValues" .) .Values.secrets.revision | sha256sum -}}
{{- end -}}

{{/* Secret settings of the release as YAML: those of the values, over what the evaluation profile needs. */}}
{{- define "coherence.secretValues" -}}
{{- $root := . -}}
{{- $platform := fromJson (include "coherence.platform" .) -}}
{{- $values := dict -}}
{{- if eq .Values.profiles "evaluation" -}}
{{- $fullname := include "coherence.fullname" . -}}
{{- $password := .Values.evaluation.password -}}
{{- $postgresql := printf "%s@%s-postgresql:5432/coherence" $password $fullname -}}
{{- $nats := printf "%s@%s-nats:4222" $password $fullname -}}
{{- $_ := set $values "DATABASE_URL_ADMIN" (printf "postgresql://coherence:%s" $postgresql) -}}
{{- $_ := set $values "NATS_URL_ADMIN" (printf "nats://admin:%s" $nats) -}}
{{- $_ := set $values "NATS_URL_CLI" (printf "nats://cli:%s" $nats) -}}
{{- range $name, $component := $platform.components -}}
{{- if hasKey $component.settings "DATABASE_URL" -}}
{{- $_ := set $values (printf "DATABASE_URL_%s" (upper $name)) (printf "postgresql://coherence_%s:%s" $component.service $postgresql) -}}
{{- end -}}
{{- $_ := set $values (printf "NATS_URL_%s" (upper $name)) (printf "nats://%s:%s" $component.service $nats) -}}
{{- end -}}
{{- $_ := set $values "DATABASE_URL_AUDIT" (printf "postgresql://coherence_audit:%s" $postgresql) -}}
{{- $_ := set $values "S3_ACCESS_KEY_ID" "coherence" -}}
{{- $_ := set $values "S3_SECRET_ACCESS_KEY" $password -}}
{{- $_ := set $values "API_TOKEN" $password -}}
{{- $_ := set $values "API_LOGIN_SECRET" $password -}}
{{- $_ := set $values "BOOKING_WEBHOOK_SECRET" $password -}}
{{- $_ := set $values "DEMO_PASSWORD" $password -}}
{{- end -}}
{{- toYaml (mustMergeOverwrite $values (deepCopy .Values.secrets.values)) -}}
{{- end -}}

{{/* What is wrong with a secret or one of its values (K8); empty when nothing is. dict: platform, value, facts (of platform.json) */}}
{{- define "coherence.weakness" -}}
{{- $platform := .platform -}}
{{- $own := .facts.own -}}
{{- $values := list .value -}}
{{- if .facts.mostValues -}}{{- $values = regexSplit "\\s+" (trim (.value | default "")) -1 -}}{{- end -}}
{{- if gt (len $values) (int (.facts.mostValues | default 1)) }} has more than {{ .facts.mostValues }} values
{{- else -}}
{{- $problems := list -}}
{{- range $index, $value := $values -}}
{{- $problem := include "coherence.weaknessOfValue" (dict "platform" $platform "value" $value "own" $own) -}}
{{- if $problem -}}{{- $problems = append $problems (ternary (printf ", value %d, %s" (add1 $index) $problem) (printf " %s" $problem) (gt (len $values) 1)) -}}{{- end -}}
{{- end -}}
{{- with $problems -}}{{- first . -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* What is wrong with one value, as the services say it too; empty when nothing is. dict: platform, value, own (whether we choose it) */}}
{{- define "coherence.weaknessOfValue" -}}
{{- $value := .value | default "" -}}
{{- $password := "" -}}
{{- if contains "://" $value -}}{{- $password = (splitList ":" (urlParse $value).userinfo | rest | join ":") -}}{{- end -}}
{{- if not $value -}}is empty
{{- else if or (has $value .platform.publicSecrets) (has $password .platform.publicSecrets) -}}is, or holds, a password that anybody knows
{{- else if and .own (lt (len $value) (int .platform.shortestSecret)) -}}is shorter than {{ .platform.shortestSecret }} characters
{{- end -}}
{{- end -}}

{{/* Stops a release that could not work, with every reason at once. */}}
{{- define "coherence.validate" -}}
{{- $root := . -}}
{{- $problems := list -}}
{{- $platform := fromJson (include "coherence.platform" .) -}}
{{- if eq .Values.profiles "evaluation" -}}
{{- $problem := include "coherence.weakness" (dict "platform" $platform "value" .Values.evaluation.password "facts" (dict "own" true)) -}}
{{- if $problem -}}
{{- $problems = append $problems (printf "evaluation.password%s: give the trial one of its own, e.g. --set evaluation.password=$(openssl rand -hex 16)" $problem) -}}
{{- end -}}
{{- end -}}
{{- if not .Values.secrets.existingSecret -}}
{{- $values := fromYaml (include "coherence.secretValues" .) -}}
{{- $needed := list -}}
{{- $known := dict "DEMO_PASSWORD" (dict "own" true) -}}
{{- range $name, $component := $platform.components -}}
{{- $plain := fromYaml (include "coherence.plainSettings" (dict "root" $root "component" $name "known" $component)) -}}
{{- range $setting, $facts := $component.settings -}}
{{- if $facts.secret -}}
{{- $key := include "coherence.secretSetting" (dict "component" $name "name" $setting) -}}
{{- if include "coherence.needsSecret" (dict "plain" $plain "setting" $facts) -}}
{{- $needed = append $needed $key -}}
{{- end -}}
{{- $_ := set $known $key $facts -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $key, $value := .Values.secrets.values -}}
{{- $facts := get $known $key | default dict -}}
{{- $problem := include "coherence.weakness" (dict "platform" $platform "value" $value "facts" $facts) -}}
{{- if and $value $problem (not $facts.name) -}}
{{- $problems = append $problems (printf "secrets.values.%s%s: `npm run --silent cli -- secrets generate` prints a set" $key $problem) -}}
{{- end -}}
{{- end -}}
{{- if .Values.workspace.demo -}}{{- $needed = append $needed "DEMO_PASSWORD" -}}{{- end -}}
{{- if .Values.audit.enabled -}}{{- $needed = append $needed "DATABASE_URL_AUDIT" -}}{{- end -}}
{{- if .Values.backup.enabled -}}{{- $needed = append $needed (.Values.backup.databaseUrlKey | default "DATABASE_URL_ADMIN") -}}{{- end -}}
{{- if ne .Values.migrations.mode "none" -}}{{- $needed = concat $needed (list "DATABASE_URL_ADMIN" "NATS_URL_ADMIN") -}}{{- end -}}
{{- if or .Values.toolbox.enabled .Values.workspace.demo .Values.workspace.file .Values.workspace.existingConfigMap -}}{{- $needed = append $needed "NATS_URL_CLI" -}}{{- end -}}
{{- $missing := list -}}
{{- range $setting := $needed | uniq | sortAlpha -}}
{{- $place := get $root.Values.secrets.keys $setting -}}
{{- if not (or (get $values $setting) (and (kindIs "map" $place) $place.secret)) -}}{{- $missing = append $missing $setting -}}{{- end -}}
{{- end -}}
{{- if $missing -}}
{{- $problems = append $problems (printf "these secret settings are missing: %s. Name a Secret that holds them in secrets.existingSecret, write them in secrets.values, or set profiles=evaluation for a trial" (join ", " $missing)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $component := $platform.components -}}
{{- $section := fromYaml (include "coherence.component" (dict "root" $root "component" $name)) -}}
{{- $plain := fromYaml (include "coherence.plainSettings" (dict "root" $root "component" $name "known" $component)) -}}
{{- range $setting, $facts := $component.settings -}}
{{- if and $facts.required (not $facts.secret) (not (get $plain $setting)) -}}
{{- $problems = append $problems (printf "settings.%s is missing; %s needs it" $setting $name) -}}
{{- end -}}
{{- end -}}
{{- if and (eq $section.autoscaling.type "keda") (not $section.autoscaling.natsMonitoringEndpoint) -}}
{{- $problems = append $problems (printf "components.%s.autoscaling.natsMonitoringEndpoint is missing; keda reads the job queues there" $name) -}}
{{- end -}}
{{- if and (eq $section.autoscaling.type "keda") (not (concat (fromJsonArray (include "coherence.queues" (dict "root" $root "service" $component.service))) $section.autoscaling.extraTriggers)) -}}
{{- $problems = append $problems (printf "components.%s has no job queue to scale by; use autoscaling.type hpa" $name) -}}
{{- end -}}
{{- if and (eq $section.autoscaling.type "hpa") $section.autoscaling.targetCPUUtilizationPercentage (not (dig "requests" "cpu" "" $section.resources)) -}}
{{- $problems = append $problems (printf "components.%s.resources.requests.cpu is missing; hpa measures the use of CPU by it" $name) -}}
{{- end -}}
{{- if and $section.autoscaling.type (gt (int $section.autoscaling.minReplicas) (int $section.autoscaling.maxReplicas)) -}}
{{- $problems = append $problems (printf "components.%s.autoscaling.minReplicas is more than maxReplicas" $name) -}}
{{- end -}}
{{- if lt (int $section.terminationGracePeriodSeconds) (add (int $section.drainSeconds) 26) -}}
{{- $problems = append $problems (printf "components.%s.terminationGracePeriodSeconds must be at least drainSeconds + 26, the time that a service may take to finish its work" $name) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.secrets.existingSecret .Values.secrets.values -}}
{{- $problems = append $problems "secrets.existingSecret and secrets.values exclude each other" -}}
{{- end -}}
{{- if and .Values.backup.enabled (not .Values.backup.url) -}}
{{- $problems = append $problems "backup.url is missing although backup.enabled is true: s3://bucket/prefix, or /backups with backup.existingClaim" -}}
{{- end -}}
{{- if and .Values.backup.enabled (hasPrefix "/" .Values.backup.url) (not .Values.backup.existingClaim) -}}
{{- $problems = append $problems "backup.existingClaim is missing: backup.url is a folder of it" -}}
{{- end -}}
{{- if and .Values.global.caBundle.configMap .Values.global.caBundle.secret -}}
{{- $problems = append $problems "global.caBundle.configMap and global.caBundle.secret exclude each other" -}}
{{- end -}}
{{- if and (eq .Values.profiles "evaluation") (or .Values.nats.credentials.secret .Values.nats.clientCertificate.secret .Values.nats.users) -}}
{{- $problems = append $problems "profiles=evaluation excludes nats.credentials, nats.clientCertificate and nats.users: its own NATS server knows users by passwords" -}}
{{- end -}}
{{- if and .Values.workspace.file .Values.workspace.existingConfigMap -}}
{{- $problems = append $problems "workspace.file and workspace.existingConfigMap exclude each other" -}}
{{- end -}}
{{- if and .Values.workspace.demo (or .Values.workspace.file .Values.workspace.existingConfigMap) -}}
{{- $problems = append $problems "workspace.demo excludes workspace.file and workspace.existingConfigMap" -}}
{{- end -}}
{{- $hops := get (fromYaml (include "coherence.plainSettings" (dict "root" . "component" "gateway" "known" $platform.components.gateway))) "TRUSTED_PROXY_HOPS" -}}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (lt (int $hops) 1) -}}
{{- $problems = append $problems "settings.TRUSTED_PROXY_HOPS is missing: how many proxies between the clients and the gateway append to X-Forwarded-For, 1 for an ingress controller alone, one more for each that stands before it. Without it all clients share the limits of one address, so that anybody can lock everybody out" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- $problems = append $problems "ingress.hosts is empty although ingress.enabled is true" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- $problems = append $problems "httpRoute.parentRefs is empty although httpRoute.enabled is true" -}}
{{- end -}}
{{- if $problems -}}
{{- fail (printf "\n\nThe values cannot work:\n  - %s\n" (join "\n  - " ($problems | uniq))) -}}
{{- end -}}
{{- end -}}
