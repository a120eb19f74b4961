/** What the service answers over NATS. */
import { auditHandlers } from '#libs/audit';
import type { Ffmpeg } from '#libs/ffmpeg';
import { jobAdminHandlers, type Jobs } from '#libs/jobs';
import type { OwnHandlers } from '#libs/service';
import type { media } from './contract.ts';
import type { CaptionDependencies } from './downloads/captions.ts';
import { createDownloadHandlers, type DownloadDependencies } from './downloads/handlers.ts';
import { createErasureHandlers } from './erasures/handlers.ts';
import { createFindOrphans } from './orphans/handlers.ts';
import { createErasePerson, createMergePerson } from './person-data/handlers.ts';
import { createDescribeTools } from './recording/handlers.ts';
import { createTicketHandlers } from './tickets/handlers.ts';
import { createUploadHandlers } from './uploads/handlers.ts';

export interface HandlerDependencies extends DownloadDependencies, Pick<CaptionDependencies, 'bus'> {
  readonly jobs: Jobs;
  readonly ffmpeg: Ffmpeg;
}

export function createHandlers(deps: HandlerDependencies): OwnHandlers<typeof media> {
  return {
    ...jobAdminHandlers(deps.jobs),
    ...auditHandlers(deps.db),
    ...createDownloadHandlers(deps),
    ...createTicketHandlers(deps.db),
    ...createUploadHandlers(deps.db),
    ...createErasureHandlers(deps.store),
    findOrphans: createFindOrphans(deps),
    describeTools: createDescribeTools(deps.ffmpeg),
    erasePerson: createErasePerson(deps.db),
    mergePerson: createMergePerson(deps.db),
  };
}
