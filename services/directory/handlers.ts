/** Collects the handlers of all operations, by feature. */
import { auditHandlers } from '#libs/infrastructure/audit';
import { jobAdminHandlers } from '#libs/infrastructure/jobs';
import type { FeatureHandlers } from '#libs/infrastructure/service';
import { createAccountHandlers } from './accounts/handlers/accounts.ts';
import { createAcceptInvitation } from './accounts/handlers/invitations.ts';
import { createManagedAccountHandlers } from './accounts/handlers/managed-accounts.ts';
import { createOwnLoginHandlers } from './accounts/handlers/own-login.ts';
import { createSessionHandlers } from './accounts/handlers/sessions.ts';
import { createBrowseHandlers } from './browse/handlers.ts';
import { createClassHandlers } from './classes/handlers.ts';
import { createErasureHandlers } from './erasures/handlers.ts';
import { createExperienceHandlers } from './experiences/handlers.ts';
import { createFeedHandlers } from './feed/handlers.ts';
import { createHistoryHandlers } from './history/handlers.ts';
import { createHolonHandlers } from './holons/handlers/holons.ts';
import { createIdentityHandlers } from './identities/handlers.ts';
import { createJourneyHandlers } from './journeys/handlers.ts';
import { createKeyHandlers } from './keys/handlers.ts';
import { createMembershipHandlers } from './memberships/handlers.ts';
import { createMergingHandlers } from './merging/handlers.ts';
import { createNoteHandlers } from './notes/handlers.ts';
import { createPeopleHandlers } from './people/handlers.ts';
import { createPersonDataHandlers } from './person-data/handlers.ts';
import { createRelationshipHandlers } from './relationships/handlers.ts';
import { createSearchHandlers } from './search/handlers.ts';
import { createSphereHandlers } from './spheres/handlers.ts';
import { createSetupHandlers } from './setup/handlers/index.ts';
import { createWorklistHandlers } from './worklist/handlers.ts';
import { createWorkspaceHandlers } from './workspace/handlers.ts';
import type { directory } from './contract.ts';
import type { Dependencies } from './dependencies.ts';

export function createHandlers(deps: Dependencies): FeatureHandlers<typeof directory> {
  return {
    ...createAccountHandlers(deps),
    ...createManagedAccountHandlers(deps),
    acceptInvitation: createAcceptInvitation(deps),
    ...createOwnLoginHandlers(deps),
    ...createSessionHandlers(deps),
    ...createBrowseHandlers(deps),
    ...createClassHandlers(deps),
    ...createErasureHandlers(deps),
    ...createExperienceHandlers(deps),
    ...createFeedHandlers(deps),
    ...createHistoryHandlers(deps),
    ...createHolonHandlers(deps),
    ...createIdentityHandlers(deps),
    ...createJourneyHandlers(deps),
    ...createKeyHandlers(deps),
    ...createMembershipHandlers(deps),
    ...createMergingHandlers(deps),
    ...createNoteHandlers(deps),
    ...createPeopleHandlers(deps),
    ...createPersonDataHandlers(deps),
    ...createRelationshipHandlers(deps),
    ...createSearchHandlers(deps),
    ...createSphereHandlers(deps),
    ...createSetupHandlers(deps),
    ...createWorklistHandlers(deps),
    ...createWorkspaceHandlers(deps),
    ...jobAdminHandlers(deps.jobs),
    ...auditHandlers(deps.db),
  };
}
