import { columns, defineEntity, p } from '#libs/orm/entities';

/** A part of a workspace document that is too large for one message; removed after an hour. */
export const WorkspaceUploadSchema = defineEntity({
  name: 'WorkspaceUpload',
  tableName: 'workspace_uploads',
  schema: 'directory',
  properties: {
    uploadId: p.text().primary(),
    part: p.integer().primary(),
    body: p.text(),
    createdAt: columns.now(),
  },
});
