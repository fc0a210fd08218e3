{{- define "rowkey.labels" -}}
app.kubernetes.io/name: rowkey
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "rowkey.selector" -}}
app.kubernetes.io/name: rowkey
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rowkey.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
