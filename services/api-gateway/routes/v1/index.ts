/** Operations of the open API beside login (rules/memberships#lists), by resource. */
import { classRoutes } from './classes.ts';
import { eventRoutes } from './events.ts';
import { experienceRoutes } from './experiences.ts';
import { holonUpdateRoutes } from './holon-update.ts';
import { holonRoutes } from './holons.ts';
import { journeyV1Routes } from './journeys.ts';
import { keyRoutes } from './keys.ts';
import { membershipRoutes } from './memberships.ts';
import { noteRoutes } from './notes.ts';
import { peopleMergeRoutes } from './people-merge.ts';
import { peopleWriteRoutes } from './people-write.ts';
import { peopleRoutes } from './people.ts';
import { searchV1Routes } from './search.ts';
import { relationshipRoutes } from './relationships.ts';
import { responsibleRoutes } from './responsible.ts';
import { webhookEndpointRoutes } from './webhook-endpoints.ts';

export const v1Routes = [
  ...searchV1Routes,
  ...peopleRoutes,
  ...holonRoutes,
  ...classRoutes,
  ...journeyV1Routes,
  ...peopleWriteRoutes,
  ...peopleMergeRoutes,
  ...holonUpdateRoutes,
  ...experienceRoutes,
  ...membershipRoutes,
  ...relationshipRoutes,
  ...noteRoutes,
  ...responsibleRoutes,
  ...keyRoutes,
  ...eventRoutes,
  ...webhookEndpointRoutes,
];
