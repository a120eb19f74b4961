{{/* Names and labels. Every template is called with the root context, or with dict "root" and what it needs. */}}

{{- define "coherence.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "coherence.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "coherence.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "coherence.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels of everything in the release. */}}
{{- define "coherence.releaseSelector" -}}
app.kubernetes.io/name: {{ include "coherence.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels that selectors use; they never change. dict: root, component */}}
{{- define "coherence.selector" -}}
{{ include "coherence.releaseSelector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* All labels of an object. dict: root, component */}}
{{- define "coherence.labels" -}}
{{ include "coherence.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: coherence
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.global.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Reference of an image. dict: root, image (registry, repository, tag, digest), tag (when the image names none) */}}
{{- define "coherence.image" -}}
{{- $repository := .image.repository -}}
{{- with .root.Values.global.imageRegistry | default .image.registry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository -}}
{{- end -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.image.tag | default .tag | required (printf "the image %s needs a tag or a digest" $repository)) -}}
{{- end -}}
{{- end -}}

{{- define "coherence.platformImage" -}}
{{- include "coherence.image" (dict "root" . "image" .Values.image "tag" .Chart.AppVersion) -}}
{{- end -}}

{{- define "coherence.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "coherence.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* Name of the Secret with the secret settings. */}}
{{- define "coherence.secretName" -}}
{{- .Values.secrets.existingSecret | default (include "coherence.fullname" .) -}}
{{- end -}}

{{- define "coherence.imagePullSecrets" -}}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
