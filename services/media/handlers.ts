/** What the service answers over NATS. */
import type { Ffmpeg } from '#libs/ffmpeg';
import { jobAdminHandlers, type Jobs } from '#libs/jobs';
import type { Handlers } from '#libs/nats';
import type { media } from './contract.ts';
import { createDownloadHandlers, type DownloadDependencies } from './downloads/handlers.ts';
import { createFindOrphans } from './orphans/handlers.ts';
import { createErasePerson } from './person-data/handlers.ts';
import { createDescribeTools } from './recording/handlers.ts';
import { createTicketHandlers } from './tickets/handlers.ts';
import { createUploadHandlers } from './uploads/handlers.ts';

export interface HandlerDependencies extends DownloadDependencies {
  readonly jobs: Jobs;
  readonly ffmpeg: Ffmpeg;
}

export function createHandlers(deps: HandlerDependencies): Handlers<typeof media> {
  return {
    ...jobAdminHandlers(deps.jobs),
    ...createDownloadHandlers(deps),
    ...createTicketHandlers(deps.db),
    ...createUploadHandlers(deps.db),
    findOrphans: createFindOrphans(deps),
    describeTools: createDescribeTools(deps.ffmpeg),
    erasePerson: createErasePerson(deps.db),
  };
}
