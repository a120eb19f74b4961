{{/* How a container proves its identity to NATS with files (values `nats`): it lists its users as `natsUsers`, each a dict: user, suffix (of the
     variables that name the files), optional (whether the pod starts without its keys in the Secret). */}}

{{/* Secrets of one user, as YAML of `credentials` and `clientCertificate`. dict: root, user */}}
{{- define "coherence.natsProofs" -}}
{{- $nats := .root.Values.nats -}}
{{- $proofs := mustMergeOverwrite (deepCopy (pick $nats "credentials" "clientCertificate")) (deepCopy (get $nats.users .user | default dict)) -}}
{{- if not $proofs.credentials.key -}}
{{- $component := get (fromJson (include "coherence.platform" .root)).components .user | default dict -}}
{{- $_ := set $proofs.credentials "key" (printf "%s.%s" ($component.service | default .user) (ternary "nk" "creds" (eq $proofs.credentials.kind "nkey"))) -}}
{{- end -}}
{{- toYaml $proofs -}}
{{- end -}}

{{/* Sources of the volume with the files, each user's in a folder of its name, as YAML; empty without any. dict: root, container */}}
{{- define "coherence.natsSources" -}}
{{- $root := .root -}}
{{- $sources := list -}}
{{- range .container.natsUsers | default list -}}
{{- $user := . -}}
{{- $proofs := fromYaml (include "coherence.natsProofs" (dict "root" $root "user" .user)) -}}
{{- $files := list (list $proofs.credentials.secret (dict $proofs.credentials.key "credentials"))
      (list $proofs.clientCertificate.secret (dict $proofs.clientCertificate.certKey "tls.crt" $proofs.clientCertificate.keyKey "tls.key")) -}}
{{- range $files -}}
{{- if first . -}}
{{- $items := list -}}
{{- range $key, $file := last . -}}{{- $items = append $items (dict "key" $key "path" (printf "%s/%s" $user.user $file)) -}}{{- end -}}
{{- $source := dict "name" (first .) "items" $items -}}
{{- if $user.optional -}}{{- $_ := set $source "optional" true -}}{{- end -}}
{{- $sources = append $sources (dict "secret" $source) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $sources -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{/* The volume, as YAML; empty without any. dict: root, container */}}
{{- define "coherence.natsVolume" -}}
{{- with include "coherence.natsSources" . -}}
{{- toYaml (dict "name" (printf "nats-%s" $.container.name) "projected" (dict "defaultMode" 292 "sources" (fromYamlArray .))) -}}
{{- end -}}
{{- end -}}

{{/* Variables that name the files, as YAML list. dict: root, container */}}
{{- define "coherence.natsEnv" -}}
{{- $root := .root -}}
{{- $env := list -}}
{{- range .container.natsUsers | default list -}}
{{- $proofs := fromYaml (include "coherence.natsProofs" (dict "root" $root "user" .user)) -}}
{{- $names := dict -}}
{{- if $proofs.credentials.secret -}}
{{- $_ := set $names (ternary "NATS_NKEY_SEED_FILE" "NATS_CREDS_FILE" (eq $proofs.credentials.kind "nkey")) "credentials" -}}
{{- end -}}
{{- if $proofs.clientCertificate.secret -}}
{{- $_ := set $names "NATS_TLS_CERT_FILE" "tls.crt" -}}
{{- $_ := set $names "NATS_TLS_KEY_FILE" "tls.key" -}}
{{- end -}}
{{- $user := . -}}
{{- range $name, $file := $names -}}
{{- $env = append $env (dict "name" (printf "%s%s" $name $user.suffix) "value" (printf "/etc/coherence/nats/%s/%s" $user.user $file)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}
