/**
 * Public contract of the media service: RPCs, jobs, events, and the paths of its internal HTTP server, which serves all
 * file content (architecture#bytes).
 */
import { auditRpcs, defineService, jobAdminRpcs, statusRpcs } from '#libs/infrastructure/contract';
import { jobsOf, pipelineJobs } from '#libs/product/pipeline';
import { cleanUpJobs } from './clean-up/contract.ts';
import { downloadRpcs } from './downloads/contract.ts';
import { ticketRpcs } from './http/contract.ts';
import { logoJobs } from './logos/contract.ts';
import { operatorRpcs } from './operator/contract.ts';
import { personDataRpcs } from './person-data/contract.ts';
import { ownTimelineRpcs } from './timeline/contract.ts';
import { recordingFeed } from './recording/contract.ts';
import { uploadRpcs } from './uploads/contract.ts';
import { videohostJobs } from './videohost/contract.ts';

export { Video } from './downloads/contract.ts';
export { mediaPaths, pathOfStored } from './http/contract.ts';
export { AudioMetadata, maxLogoBytes, type RecordingKind, recordingKinds, StoredFile } from './schemas.ts';
export { audioExtensions, audioUploadErrors, maxAudioBytes, maxRecordingBytes } from './uploads/contract.ts';

export const media = defineService({
  service: 'media',
  rpcs: {
    ...jobAdminRpcs('media'),
    ...auditRpcs('media'),
    ...statusRpcs('media'),
    ...ownTimelineRpcs,
    ...personDataRpcs,
    ...uploadRpcs,
    ...downloadRpcs,
    ...ticketRpcs,
    ...operatorRpcs,
  },
  jobs: { ...jobsOf('media', pipelineJobs), ...cleanUpJobs, ...logoJobs, ...videohostJobs },
  events: {},
  feed: recordingFeed,
  consumers: {
    meetingReported: {
      stream: 'EVENTS',
      durable: 'media-meeting-reported',
      filter: 'events.conversations.meeting.reported',
    },
    conversationDeleted: {
      stream: 'EVENTS',
      durable: 'media-conversation-deleted',
      filter: 'events.conversations.conversation.deleted',
    },
  },
});
