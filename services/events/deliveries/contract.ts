/** One attempt to deliver an event to an endpoint (rules/events#deliveries; V6). */
import { nullable, type Static, Type } from '#libs/contract';

/** Why an attempt failed, besides the status of a response. */
export const attemptErrors = ['timeout', 'connection_failed', 'connection_broken', 'forbidden_address', 'redirect', 'status'] as const;

export const DeliveryAttempt = Type.Object({
  at: Type.String({ format: 'date-time', description: 'When it began.' }),
  status_code: nullable(Type.Integer({ description: 'Of the answer; null = there was none.' })),
  error: nullable(
    Type.Enum([...attemptErrors], {
      description:
        'Why it failed; null = it succeeded. `forbidden_address`: the address is private or not `https`, and WEBHOOK_ALLOWED_HOSTS does not name the host.',
    }),
  ),
  duration_ms: Type.Integer({ description: 'Until the answer, or its failure.' }),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;
