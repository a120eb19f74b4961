/**
 * Public face of the media service: what it answers over NATS, which jobs it works, and the paths of its internal HTTP server,
 * which alone carries bytes (architecture#bytes).
 */
import { auditRpcs, defineService, jobAdminRpcs, statusRpcs } from '#libs/contract';
import { jobsOf, pipelineJobs } from '#libs/pipeline';
import { cleanUpJobs } from './clean-up/contract.ts';
import { downloadRpcs } from './downloads/contract.ts';
import { erasureRpcs } from './erasures/contract.ts';
import { orphanRpcs } from './orphans/contract.ts';
import { personDataRpcs } from './person-data/contract.ts';
import { recordingFeed, recordingRpcs } from './recording/contract.ts';
import { ticketRpcs } from './tickets/contract.ts';
import { uploadRpcs } from './uploads/contract.ts';
import { videohostJobs } from './videohost/contract.ts';

export { Video } from './downloads/contract.ts';
export { mediaPaths, pathOfStored } from './http/contract.ts';
export { maxLogoBytes } from './logos/contract.ts';
export { AudioMetadata, type RecordingKind, recordingKinds, StoredFile } from './schemas.ts';
export { audioExtensions, audioUploadErrors, maxAudioBytes, maxRecordingBytes } from './uploads/contract.ts';

export const media = defineService({
  service: 'media',
  rpcs: {
    ...jobAdminRpcs('media'),
    ...auditRpcs('media'),
    ...statusRpcs('media'),
    ...personDataRpcs,
    ...uploadRpcs,
    ...downloadRpcs,
    ...ticketRpcs,
    ...orphanRpcs,
    ...erasureRpcs,
    ...recordingRpcs,
  },
  jobs: { ...jobsOf('media', pipelineJobs), ...cleanUpJobs, ...videohostJobs },
  events: {},
  feed: recordingFeed,
  consumers: {
    meetingReported: { stream: 'EVENTS', durable: 'media-meeting-reported', filter: 'events.conversations.meeting.reported' },
    conversationDeleted: { stream: 'EVENTS', durable: 'media-conversation-deleted', filter: 'events.conversations.conversation.deleted' },
  },
});
