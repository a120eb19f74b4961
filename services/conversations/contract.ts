/**
 * Public face of the conversations service: what it answers over NATS, which jobs it works, which facts it publishes. Each feature declares
 * its own; shapes that several share are in schemas.ts.
 */
import { auditRpcs, defineService, jobAdminRpcs, statusRpcs, webhookAdminRpcs } from '#libs/contract';
import { audioRpcs, audioJobs } from './audio/contract.ts';
import { bookingRpcs, bookingJobs, bookingConsumers } from './booking/contract.ts';
import { bulkImportRpcs } from './bulk-import/contract.ts';
import { conversationRpcs, conversationEvents } from './conversation/contract.ts';
import { deletionRpcs, deletionEvents } from './deletion/contract.ts';
import { discoveryRpcs } from './discovery/contract.ts';
import { conversationFeed } from './feed/contract.ts';
import { infosRpcs } from './infos/contract.ts';
import { meetingJobs, meetingEvents, meetingConsumers } from './meeting/contract.ts';
import { notesRpcs } from './notes/contract.ts';
import { operatorRpcs } from './operator/contract.ts';
import { personDataRpcs } from './person-data/contract.ts';
import { pipelineResultJobs } from './pipeline/contract.ts';
import { pipelineEntryRpcs } from './pipeline-entries/contract.ts';
import { questionsRpcs } from './questions/contract.ts';
import { receiptRpcs } from './receipts/contract.ts';
import { reconcileJobs, reconcileRpcs } from './reconcile/contract.ts';
import { recordedRpcs } from './recorded/contract.ts';
import { roomRpcs } from './room/contract.ts';
import { spokenRpcs } from './spoken/contract.ts';

export { BookingWebhook, bookingWebhookSubject } from './booking/contract.ts';
export { type ImportedItem, type ImportItem, maxImportItems } from './bulk-import/contract.ts';
export { ConversationOut } from './conversation/contract.ts';
export { BrowsedEvents, BrowsedJourney, searchFilters, SearchItem, SearchSort } from './discovery/contract.ts';
export { Infos } from './infos/contract.ts';
export { meetingWebhookSubject } from './meeting/contract.ts';
export { QuestionChange, QuestionChangeReply } from './questions/contract.ts';
export { ReconcileResult } from './reconcile/contract.ts';
export { bookingOutcomes } from './receipts/contract.ts';
export { RecordedWrite } from './recorded/contract.ts';
export { RoomState, RoomWrite, RoomWriteReply } from './room/contract.ts';
export { dataErrors, ExpectedUpdatedAt, JsonStore } from './schemas.ts';
export { readerFacts } from './spoken/contract.ts';

export const conversations = defineService({
  service: 'conversations',
  rpcs: {
    ...jobAdminRpcs('conversations'),
    ...auditRpcs('conversations'),
    ...statusRpcs('conversations'),
    ...webhookAdminRpcs('conversations'),
    ...pipelineEntryRpcs,
    ...audioRpcs,
    ...bookingRpcs,
    ...bulkImportRpcs,
    ...conversationRpcs,
    ...deletionRpcs,
    ...discoveryRpcs,
    ...infosRpcs,
    ...notesRpcs,
    ...operatorRpcs,
    ...personDataRpcs,
    ...questionsRpcs,
    ...receiptRpcs,
    ...reconcileRpcs,
    ...recordedRpcs,
    ...roomRpcs,
    ...spokenRpcs,
  },
  jobs: { ...audioJobs, ...bookingJobs, ...reconcileJobs, ...meetingJobs, ...pipelineResultJobs },
  events: { ...conversationEvents, ...deletionEvents, ...meetingEvents },
  feed: conversationFeed,
  consumers: { ...bookingConsumers, ...meetingConsumers },
});
