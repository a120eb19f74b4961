import { AgentSchema, ChatHitSchema, ModelUsageSchema, TokenBudgetSchema } from './agent.entity.ts';
import { AgentMemorySchema, MemoryFactSchema, ThreadMemorySchema } from './memory.entity.ts';
import { TelegramChatSchema, TelegramSendSchema, WebhookReceiptSchema } from './telegram.entity.ts';
import { MessageSchema, ThreadSchema, TurnTicketSchema } from './thread.entity.ts';

/** Every table of the schema `agents` but those of the job library. */
export const entities = [
  AgentMemorySchema,
  AgentSchema,
  ChatHitSchema,
  MemoryFactSchema,
  MessageSchema,
  ModelUsageSchema,
  TelegramChatSchema,
  TelegramSendSchema,
  ThreadMemorySchema,
  ThreadSchema,
  TokenBudgetSchema,
  TurnTicketSchema,
  WebhookReceiptSchema,
];
