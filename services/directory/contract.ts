/**
 * The public contract of the directory: people, accounts and login sessions, classes, holons, journeys, memberships,
 * relationships, notes on people and holons, and the workspace file. architecture#services,
 * rules/workspace#workspace-file.
 */
import { auditRpcs, defineService, jobAdminRpcs, statusRpcs } from '#libs/infrastructure/contract';
import { accountRpcs, managedAccountRpcs, ownLoginRpcs, sessionEvents, sessionRpcs } from './accounts/contract.ts';
import { browseRpcs } from './browse/contract.ts';
import { classRpcs } from './classes/contract.ts';
import { erasureJobs, erasureRpcs } from './erasures/contract.ts';
import { directoryFeed, holonEvents, journeyEvents, peopleEvents } from './events/contract.ts';
import { experienceJobs, experienceRpcs } from './experiences/contract.ts';
import { feedRpcs } from './feed/contract.ts';
import { historyRpcs } from './history/contract.ts';
import { holonRpcs } from './holons/contract.ts';
import { identityRpcs } from './identities/contract.ts';
import { journeyRpcs, stepRpcs } from './journeys/contract.ts';
import { keyEvents, keyRpcs } from './keys/contract.ts';
import { membershipRpcs } from './memberships/contract.ts';
import { mergingJobs, mergingRpcs } from './merging/contract.ts';
import { noteJobs, noteRpcs } from './notes/contract.ts';
import { attendeeRpcs, peopleRpcs } from './people/contract.ts';
import { personDataRpcs } from './person-data/contract.ts';
import { relationshipRpcs } from './relationships/contract.ts';
import { searchRpcs } from './search/contract.ts';
import { sphereRpcs } from './spheres/contract.ts';
import { setupRpcs } from './setup/contract.ts';
import { worklistRpcs } from './worklist/contract.ts';
import { workspaceRpcs } from './workspace/contract.ts';

export * from './accounts/contract.ts';
export * from './api-objects/contract.ts';
export * from './browse/contract.ts';
export * from './classes/contract.ts';
export * from './erasures/contract.ts';
export * from './experiences/contract.ts';
export * from './history/contract.ts';
export * from './holons/contract.ts';
export * from './identities/contract.ts';
export * from './journeys/contract.ts';
export * from './keys/contract.ts';
export * from './memberships/contract.ts';
export * from './merging/contract.ts';
export * from './notes/contract.ts';
export * from './people/contract.ts';
export * from './person-data/contract.ts';
export * from './relationships/contract.ts';
export * from './search/contract.ts';
export * from './spheres/contract.ts';
export * from './worklist/contract.ts';
export * from './setup/contract.ts';
export * from './workspace/contract.ts';

export const directory = defineService({
  service: 'directory',
  rpcs: {
    ...jobAdminRpcs('directory'),
    ...auditRpcs('directory'),
    ...statusRpcs('directory'),
    ...accountRpcs,
    ...attendeeRpcs,
    ...browseRpcs,
    ...classRpcs,
    ...erasureRpcs,
    ...experienceRpcs,
    ...feedRpcs,
    ...historyRpcs,
    ...holonRpcs,
    ...identityRpcs,
    ...journeyRpcs,
    ...keyRpcs,
    ...managedAccountRpcs,
    ...membershipRpcs,
    ...mergingRpcs,
    ...noteRpcs,
    ...ownLoginRpcs,
    ...peopleRpcs,
    ...personDataRpcs,
    ...relationshipRpcs,
    ...searchRpcs,
    ...sessionRpcs,
    ...sphereRpcs,
    ...setupRpcs,
    ...stepRpcs,
    ...worklistRpcs,
    ...workspaceRpcs,
  },
  jobs: { ...erasureJobs, ...experienceJobs, ...mergingJobs, ...noteJobs },
  events: { ...peopleEvents, ...holonEvents, ...journeyEvents, ...keyEvents, ...sessionEvents },
  feed: directoryFeed,
});
