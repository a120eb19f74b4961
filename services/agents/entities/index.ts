import { AgentSchema, ChatHitSchema, ModelUsageSchema, ThinkingHabitSchema, TokenBudgetSchema } from './agent.entity.ts';
import { AgentMemorySchema, MemoryFactSchema, ThreadMemorySchema } from './memory.entity.ts';
import { OperatorSendSchema, TelegramChatSchema, TelegramSendSchema, WebhookReceiptSchema } from './telegram.entity.ts';
import { MessageSchema, ThreadSchema, ThreadTakeoverSchema, TurnTicketSchema } from './thread.entity.ts';

/** Every table of the schema `agents` but those of the job library. */
export const entities = [
  AgentMemorySchema,
  AgentSchema,
  ChatHitSchema,
  MemoryFactSchema,
  MessageSchema,
  ModelUsageSchema,
  OperatorSendSchema,
  TelegramChatSchema,
  TelegramSendSchema,
  ThinkingHabitSchema,
  ThreadMemorySchema,
  ThreadSchema,
  ThreadTakeoverSchema,
  TokenBudgetSchema,
  TurnTicketSchema,
  WebhookReceiptSchema,
];
