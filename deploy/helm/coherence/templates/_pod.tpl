{{/* Pieces of pod specifications that every workload of the release shares. */}}

{{/* Scheduling and identity of a pod. dict: root, section (component over defaults) */}}
{{- define "coherence.podBasics" -}}
serviceAccountName: {{ include "coherence.serviceAccountName" .root }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- toYaml .root.Values.podSecurityContext | nindent 2 }}
{{- include "coherence.imagePullSecrets" .root }}
{{- with .section.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .section.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .section.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .section.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A container of the platform's image that runs to its end. dict: root, name, command, env (YAML), resources, mounts (YAML) */}}
{{- define "coherence.taskContainer" -}}
- name: {{ .name }}
  image: {{ include "coherence.platformImage" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: {{ toJson .command }}
  securityContext:
    {{- toYaml .root.Values.containerSecurityContext | nindent 4 }}
  resources:
    {{- toYaml .resources | nindent 4 }}
  env:
    {{- .env | nindent 4 }}
  volumeMounts:
    - { name: tmp, mountPath: /tmp }
    {{- with .mounts }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* Containers that migrate the database and make the streams, in this order. dict: root, secretName (of the hook's own copy, or empty) */}}
{{- define "coherence.setupContainers" -}}
{{- $root := .root -}}
{{- $secretName := .secretName | default (include "coherence.secretName" .root) -}}
{{- $level := get $root.Values.settings "LOG_LEVEL" | default "info" -}}
{{- $prefix := get $root.Values.settings "NATS_SUBJECT_PREFIX" | default "" -}}
{{- $databases := list -}}
{{- range $name, $component := (fromJson (include "coherence.platform" $root)).components -}}
{{- if hasKey $component.settings "DATABASE_URL" -}}
{{- $databases = append $databases $name -}}
{{- end -}}
{{- end -}}
{{- $migrateEnv := include "coherence.secretVariable" (dict "root" $root "variable" "DATABASE_URL" "setting" "DATABASE_URL_ADMIN" "required" true "secretName" $secretName) -}}
{{- range $name := $databases -}}
{{- $setting := printf "DATABASE_URL_%s" (upper $name) -}}
{{- $migrateEnv = printf "%s\n%s" $migrateEnv (include "coherence.secretVariable" (dict "root" $root "variable" $setting "setting" $setting "required" true "secretName" $secretName)) -}}
{{- end -}}
{{- /* Optional: an installation without it verifies its audit logs in another way. */ -}}
{{- $migrateEnv = printf "%s\n%s" $migrateEnv (include "coherence.secretVariable" (dict "root" $root "variable" "DATABASE_URL_AUDIT" "setting" "DATABASE_URL_AUDIT" "secretName" $secretName)) -}}
{{- $migrateEnv = printf "%s\n- name: LOG_LEVEL\n  value: %s\n- name: MIGRATION_WAIT_SECONDS\n  value: %s" $migrateEnv ($level | quote) (int64 $root.Values.migrations.waitSeconds | toString | quote) -}}
{{- $streamsEnv := include "coherence.secretVariable" (dict "root" $root "variable" "NATS_URL" "setting" "NATS_URL_ADMIN" "required" true "secretName" $secretName) -}}
{{- $streamsEnv = printf "%s\n- name: LOG_LEVEL\n  value: %s\n- name: NATS_SUBJECT_PREFIX\n  value: %s" $streamsEnv ($level | quote) ($prefix | quote) -}}
{{- /* Whose users it checks before the pods of a release are replaced; a pod's init container knows no other pod's credentials. */ -}}
{{- if has $root.Values.migrations.mode (list "hook" "job") -}}
{{- range $name := append (keys (fromJson (include "coherence.platform" $root)).components | sortAlpha) "cli" -}}
{{- $setting := printf "NATS_URL_%s" (upper $name) -}}
{{- $streamsEnv = printf "%s\n%s" $streamsEnv (include "coherence.secretVariable" (dict "root" $root "variable" $setting "setting" $setting "secretName" $secretName)) -}}
{{- end -}}
{{- end -}}
{{- with $root.Values.streams.replicas -}}
{{- $streamsEnv = printf "%s\n- name: NATS_STREAM_REPLICAS\n  value: %s" $streamsEnv (int64 . | toString | quote) -}}
{{- end -}}
{{- range $stream, $bytes := $root.Values.streams.maxBytes -}}
{{- $streamsEnv = printf "%s\n- name: NATS_STREAM_%s_MAX_BYTES\n  value: %s" $streamsEnv $stream (int64 $bytes | toString | quote) -}}
{{- end -}}
{{ include "coherence.taskContainer" (dict "root" $root "name" "migrate" "command" (list "node" "tools/migrate.ts") "env" $migrateEnv "resources" $root.Values.migrations.resources) }}
{{ include "coherence.taskContainer" (dict "root" $root "name" "streams" "command" (list "node" "tools/streams.ts") "env" $streamsEnv "resources" $root.Values.migrations.resources) }}
{{- end -}}
