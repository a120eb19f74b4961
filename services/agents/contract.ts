/** The public face of the agents service: its features' operations, jobs and webhooks. */
import { auditRpcs, defineService, jobAdminRpcs, statusRpcs, webhookAdminRpcs } from '#libs/contract';
import { jobsOf, pipelineJobs } from '#libs/pipeline';
import { agentRpcs } from './agent/contract.ts';
import { botRpcs } from './bot/contract.ts';
import { chatRpcs } from './chat/contract.ts';
import { forgetRpcs } from './forget/contract.ts';
import { handoverEvents, handoverRpcs } from './handover/contract.ts';
import { knowledgeRpcs } from './knowledge/contract.ts';
import { languageModelRpcs } from './language-model/contract.ts';
import { memoryJobs } from './memory/contract.ts';
import { personDataRpcs } from './person-data/contract.ts';
import { receiptRpcs } from './receipts/contract.ts';
import { recordRpcs } from './record/contract.ts';
import { telegramJobs, telegramWebhookSubject } from './telegram/contract.ts';
import { workspaceRpcs } from './workspace/contract.ts';

export { AgentOut } from './agent/contract.ts';
export { AgentChatIn, AgentChatOut, maxChatBodyCharacters } from './chat/contract.ts';
export {
  ChatUpdates,
  maxChatWaitSeconds,
  type Message as ThreadMessage,
  messageProperties,
  type Thread,
  threadProperties,
} from './handover/contract.ts';
export { sentence } from './knowledge/contract.ts';
export { firstUpdateReceiptId, updateOutcomes, type UpdateReceipt } from './receipts/contract.ts';
export { TelegramWebhook, telegramWebhookSubject } from './telegram/contract.ts';
export { AgentItem } from './workspace/contract.ts';

export const agents = defineService({
  service: 'agents',
  rpcs: {
    ...jobAdminRpcs('agents'),
    ...auditRpcs('agents'),
    ...statusRpcs('agents'),
    ...webhookAdminRpcs('agents'),
    ...personDataRpcs,
    ...receiptRpcs,
    ...botRpcs,
    ...knowledgeRpcs,
    ...agentRpcs,
    ...chatRpcs,
    ...handoverRpcs,
    ...workspaceRpcs,
    ...recordRpcs,
    ...forgetRpcs,
    ...languageModelRpcs,
  },
  jobs: { ...telegramJobs, ...jobsOf('agents', pipelineJobs), ...memoryJobs },
  events: handoverEvents,
  consumers: { updates: { stream: 'WEBHOOKS', durable: 'agents-updates', filter: telegramWebhookSubject } },
});
