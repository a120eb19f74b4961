/**
 * Public contract of the transcripts service, which imports the meeting provider's transcripts under the transcript
 * window, and serves them as Markdown, data, captions and evidence (rules/transcripts#transcript-file,
 * rules/transcripts#import-evidence; D7, D24 to D26a, T1).
 */
import { auditRpcs, defineService, jobAdminRpcs, statusRpcs } from '#libs/infrastructure/contract';
import { jobsOf, pipelineJobs } from '#libs/product/pipeline';
import { cleanUpConsumers, cleanUpJobs } from './clean-up/contract.ts';
import { evidenceRpcs, transcriptFeed } from './evidence/contract.ts';
import { legacyRpcs } from './legacy/contract.ts';
import { personDataRpcs } from './person-data/contract.ts';
import { ownTimelineRpcs } from './timeline/contract.ts';
import { renderRpcs } from './render/contract.ts';
import { searchConsumers, searchJobs, searchRpcs } from './search/contract.ts';

export {
  exclusionReasons,
  type ExclusionReason,
  importEvidence,
  type ImportEvidence,
  importStatuses,
  type ImportStatus,
} from './evidence/contract.ts';
export type { LegacyRow } from './legacy/contract.ts';
export { Transcript, type TranscriptFormat, transcriptFormats, transcriptPart } from './render/contract.ts';
export { transcriptSearchFilters, TranscriptMatches } from './search/contract.ts';

export const transcripts = defineService({
  service: 'transcripts',
  rpcs: {
    ...jobAdminRpcs('transcripts'),
    ...auditRpcs('transcripts'),
    ...statusRpcs('transcripts'),
    ...ownTimelineRpcs,
    ...personDataRpcs,
    ...renderRpcs,
    ...searchRpcs,
    ...evidenceRpcs,
    ...legacyRpcs,
  },
  jobs: { ...jobsOf('transcripts', pipelineJobs), ...cleanUpJobs, ...searchJobs },
  events: {},
  feed: transcriptFeed,
  consumers: {
    meetingReported: {
      stream: 'EVENTS',
      durable: 'transcripts-meeting-reported',
      filter: 'events.conversations.meeting.reported',
    },
    ...cleanUpConsumers,
    ...searchConsumers,
  },
});
