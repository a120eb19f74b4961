/** Dependencies of the transcripts service's handlers and workers; `service.ts` creates them once. */
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { Ffmpeg, ScratchDirectory } from '#libs/infrastructure/ffmpeg';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus } from '#libs/infrastructure/nats';
import type { Transcriber } from '#libs/infrastructure/openai';
import type { Database } from '#libs/infrastructure/orm';
import type { Outbound } from '#libs/infrastructure/outbound';
import type { MeetingProvider } from '#libs/product/realtimekit';
import type { TranscriptsConfig } from './config.ts';

export interface Dependencies {
  readonly config: TranscriptsConfig;
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
  readonly logger: Logger;
  /** Undefined without REALTIMEKIT_BASE_URL: transcript imports wait. */
  readonly provider: MeetingProvider | undefined;
  /** HTTP client that connects only to the internal port of the media service. */
  readonly mediaOutbound: Outbound;
  readonly ffmpeg: Ffmpeg;
  readonly scratch: ScratchDirectory;
  /** Undefined without LLM_BASE_URL and TRANSCRIPTION_MODEL: transcriptions of audio wait. */
  readonly transcriber: Transcriber | undefined;
  /** Increments the metric of finished runs by status. */
  readonly countImport: (status: string) => void;
  readonly countTranscription: (status: string) => void;
}
