/** Dependencies of handlers and workers of the media service; `service.ts` creates them once. */
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { Ffmpeg, ScratchDirectory } from '#libs/infrastructure/ffmpeg';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus } from '#libs/infrastructure/nats';
import type { ObjectStore } from '#libs/infrastructure/object-store';
import type { Database } from '#libs/infrastructure/orm';
import type { MeetingProvider } from '#libs/product/realtimekit';
import type { Clock } from '#libs/infrastructure/time';
import type { MediaConfig } from './config.ts';
import type { VideoHost } from './video-host.ts';

export interface Dependencies {
  readonly config: MediaConfig;
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
  readonly store: ObjectStore;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ffmpeg: Ffmpeg;
  readonly scratch: ScratchDirectory;
  /** Undefined without REALTIMEKIT_BASE_URL; recording imports then wait. */
  readonly provider: MeetingProvider | undefined;
  /**
   * Connects to the video host for the channel of a refresh token. Undefined without YOUTUBE_CLIENT_ID and
   * YOUTUBE_CLIENT_SECRET; videos then wait.
   */
  readonly connectVideoHost: ((refreshToken: string) => VideoHost) | undefined;
  /** Requests a sweep of failed uploads. */
  readonly requestSweep: () => void;
}
