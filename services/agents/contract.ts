/** Contract of the agents service. */
import {
  auditRpcs,
  defineService,
  jobAdminRpcs,
  statusRpcs,
  timelineRpcs,
  webhookAdminRpcs,
} from '#libs/infrastructure/contract';
import { jobsOf, pipelineJobs } from '#libs/product/pipeline';
import { agentRpcs } from './agent/contract.ts';
import { telegramJobs, telegramRpcs, telegramWebhookSubject } from './telegram/contract.ts';
import { chatRpcs } from './chat/contract.ts';
import { recordRpcs } from './record/contract.ts';
import { handoverEvents, handoverRpcs } from './handover/contract.ts';
import { memoryJobs, memoryRpcs } from './memory/contract.ts';
import { languageModelRpcs } from './language-model/contract.ts';

export { agentHistoryQuery, AgentItem, agentListQuery, AgentOut, agentUpdate, newAgent } from './agent/contract.ts';
export { AgentChatIn, AgentChatOut, maxChatBodyCharacters } from './chat/contract.ts';
export {
  ChatUpdates,
  maxChatWaitSeconds,
  type Message as ThreadMessage,
  messageProperties,
  type Thread,
  threadProperties,
} from './handover/contract.ts';
export { sentence } from './memory/contract.ts';
export { firstUpdateReceiptId, updateOutcomes } from './receipts/contract.ts';
export { TelegramWebhook, telegramWebhookSubject } from './telegram/contract.ts';

export const agents = defineService({
  service: 'agents',
  rpcs: {
    ...jobAdminRpcs('agents'),
    ...auditRpcs('agents'),
    ...statusRpcs('agents'),
    ...webhookAdminRpcs('agents'),
    ...timelineRpcs('agents'),
    ...telegramRpcs,
    ...memoryRpcs,
    ...agentRpcs,
    ...chatRpcs,
    ...handoverRpcs,
    ...recordRpcs,
    ...languageModelRpcs,
  },
  jobs: { ...telegramJobs, ...jobsOf('agents', pipelineJobs), ...memoryJobs },
  events: handoverEvents,
  consumers: { updates: { stream: 'WEBHOOKS', durable: 'agents-updates', filter: telegramWebhookSubject } },
});
