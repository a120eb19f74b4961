import { BlobSchema, DeletedConversationSchema, TicketSchema, UploadSchema } from './blob.entity.ts';
import { RecordingImportSchema, VideohostUploadSchema } from './recording.entity.ts';

/** Every table of the schema `media` but those of the job library. */
export const entities = [BlobSchema, DeletedConversationSchema, RecordingImportSchema, TicketSchema, UploadSchema, VideohostUploadSchema];
