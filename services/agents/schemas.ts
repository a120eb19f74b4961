/** Schemas that several features' contracts share. */
import { Type } from '#libs/contract';

export const slug = Type.String({ description: 'Slug of the agent.' });

/** Error of every operation that operators name an agent to. */
export const agentNotFound = { code: 'not_found', when: 'No agent has that slug.' } as const;

/** Error of every operation that the gateway asks for operators: it has looked at their rights already, the service looks again. */
export const notAnOperator = {
  not_an_operator: { code: 'permission_denied', when: 'The caller may not do this with operations.' },
} as const;
