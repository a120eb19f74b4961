import { agentRoutes } from './agents.ts';
import { auditRoutes } from './audit.ts';
import { conversationRoutes } from './conversations.ts';
import { jobRoutes } from './jobs.ts';
import { overviewRoutes } from './overview.ts';
import { operatorPeopleRoutes } from './people.ts';
import { pipelineRoutes } from './pipelines.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { threadRoutes } from './threads.ts';
import { webhookRoutes } from './webhooks.ts';

/** Operations of operators, under `/api/ops` (rules/access#operators). */
export const opsRoutes = [
  ...overviewRoutes,
  ...jobRoutes,
  ...webhookRoutes,
  ...pipelineRoutes,
  ...threadRoutes,
  ...conversationRoutes,
  ...operatorPeopleRoutes,
  ...agentRoutes,
  ...auditRoutes,
  ...maintenanceRoutes,
];
