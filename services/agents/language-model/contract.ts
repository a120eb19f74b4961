/** Operation that returns the usage of the language model. */
import { byUsers, notAnOperator, rpc, Type } from '#libs/infrastructure/contract';
import { slug } from '../agent/contract.ts';

export const languageModelRpcs = {
  listUsage: rpc({
    subject: 'agents.operations.list-usage',
    callers: byUsers,
    summary: 'Usage of the language model by agent, day (UTC) and purpose, newest day first.',
    errors: notAnOperator,
    request: Type.Object({
      slug: Type.Optional(slug),
      since: Type.Optional(Type.String({ format: 'date', description: 'First day, `YYYY-MM-DD`.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 100.' })),
    }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          slug: Type.String(),
          day: Type.String(),
          purpose: Type.Union([Type.Literal('chat'), Type.Literal('memory')]),
          calls: Type.Integer({ description: 'Calls, including failed ones.' }),
          failed_calls: Type.Integer(),
          calls_without_usage: Type.Integer({ description: 'Calls whose tokens the model did not report.' }),
          prompt_tokens: Type.Integer(),
          completion_tokens: Type.Integer(),
          duration_ms: Type.Integer({ description: 'Time spent waiting for the model.' }),
        }),
      ),
    }),
  }),
};
