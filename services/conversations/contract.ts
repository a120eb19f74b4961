/** Contract of the conversations service. Each feature declares its own part; shared schemas are in schemas.ts. */
import { auditRpcs, defineService, jobAdminRpcs, statusRpcs, webhookAdminRpcs } from '#libs/infrastructure/contract';
import { conversationEvents, conversationJobs, conversationRpcs } from './conversation/contract.ts';
import { bookingRpcs, bookingJobs, bookingConsumers } from './booking/contract.ts';
import { bulkImportRpcs } from './bulk-import/contract.ts';
import { deletionRpcs, deletionEvents } from './deletion/contract.ts';
import { discoveryRpcs } from './discovery/contract.ts';
import { editingRpcs } from './editing/contract.ts';
import { conversationFeed } from './feed/contract.ts';
import { meetingJobs, meetingEvents, meetingConsumers } from './meeting/contract.ts';
import { noteRpcs } from './notes/contract.ts';
import { operatorRpcs } from './operator/contract.ts';
import { personDataRpcs } from './person-data/contract.ts';
import { pipelineRpcs, pipelineJobs } from './pipeline/contract.ts';
import { questionsRpcs } from './questions/contract.ts';
import { reconcileJobs, reconcileRpcs } from './reconcile/contract.ts';
import { roomRpcs } from './room/contract.ts';
import { ownTimelineRpcs } from './timeline/contract.ts';
import { transcriptSearchScopeRpcs } from './transcript-search-scope/contract.ts';

export { BookingWebhook, bookingWebhookSubject } from './booking/contract.ts';
export { type ImportedItem, type ImportItem, maxImportItems } from './bulk-import/contract.ts';
export { ConversationOut, Infos, RecordedWrite } from './conversation/contract.ts';
export { BrowsedEvents, BrowsedJourney, SearchItem, searchQuery } from './discovery/contract.ts';
export { ConversationUpdate, NewConversation } from './editing/contract.ts';
export { NewNote, notesQuery } from './notes/contract.ts';
export { meetingWebhookSubject } from './meeting/contract.ts';
export { QuestionChange, QuestionChangeReply } from './questions/contract.ts';
export { ReconcileResult } from './reconcile/contract.ts';
export { bookingOutcomes } from './receipts/contract.ts';
export { RoomState, RoomWrite, RoomWriteReply } from './room/contract.ts';
export { dataErrors, ExpectedUpdatedAt, JsonStore } from './schemas.ts';
export { readerFacts } from './transcript-search-scope/contract.ts';

export const conversations = defineService({
  service: 'conversations',
  rpcs: {
    ...jobAdminRpcs('conversations'),
    ...auditRpcs('conversations'),
    ...statusRpcs('conversations'),
    ...webhookAdminRpcs('conversations'),
    ...pipelineRpcs,
    ...bookingRpcs,
    ...bulkImportRpcs,
    ...conversationRpcs,
    ...deletionRpcs,
    ...discoveryRpcs,
    ...editingRpcs,
    ...noteRpcs,
    ...operatorRpcs,
    ...personDataRpcs,
    ...questionsRpcs,
    ...reconcileRpcs,
    ...roomRpcs,
    ...ownTimelineRpcs,
    ...transcriptSearchScopeRpcs,
  },
  jobs: { ...conversationJobs, ...bookingJobs, ...reconcileJobs, ...meetingJobs, ...pipelineJobs },
  events: { ...conversationEvents, ...deletionEvents, ...meetingEvents },
  feed: conversationFeed,
  consumers: { ...bookingConsumers, ...meetingConsumers },
});
