/** Operations of the open API except login (rules/memberships#lists), by resource. */
import { agentV1Routes } from './agents.ts';
import { accountRoutes } from './accounts.ts';
import { eventRoutes, webhookEndpointRoutes } from './events.ts';
import { historyRoutes } from './history.ts';
import { experienceRoutes, holonRoutes, holonUpdateRoutes } from './holons.ts';
import { classRoutes, journeyV1Routes } from './journeys.ts';
import { keyRoutes } from './keys.ts';
import { membershipRoutes, noteRoutes, relationshipRoutes, responsibleRoutes } from './memberships.ts';
import { sphereRoutes } from './spheres.ts';
import { peopleMergeRoutes, peopleRoutes, peopleWriteRoutes, personDataRoutes, searchV1Routes } from './people.ts';
import { classSetupRoutes, journeySetupRoutes, questionRoutes, stepSetupRoutes } from './setup.ts';

export const v1Routes = [
  ...searchV1Routes,
  ...peopleRoutes,
  ...holonRoutes,
  ...classRoutes,
  ...journeyV1Routes,
  ...classSetupRoutes,
  ...journeySetupRoutes,
  ...stepSetupRoutes,
  ...questionRoutes,
  ...peopleWriteRoutes,
  ...personDataRoutes,
  ...peopleMergeRoutes,
  ...holonUpdateRoutes,
  ...experienceRoutes,
  ...membershipRoutes,
  ...relationshipRoutes,
  ...noteRoutes,
  ...responsibleRoutes,
  ...sphereRoutes,
  ...historyRoutes,
  ...agentV1Routes,
  ...accountRoutes,
  ...keyRoutes,
  ...eventRoutes,
  ...webhookEndpointRoutes,
];
