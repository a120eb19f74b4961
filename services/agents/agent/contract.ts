/** Agent records for the API. */
import { anyActor, withoutActor, rpc, Type } from '#libs/contract';
import { slug } from '../schemas.ts';

/** AgentOut of rules/agents#agents. */
export const AgentOut = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    prompt: Type.String({ description: 'Instructions of the agent; `""` when it has none.' }),
    infos: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Open data about the agent; `{}` when it has none.' }),
  },
  { $id: 'AgentOut' },
);

export const agentRpcs = {
  getAgent: rpc({
    subject: 'agents.agents.get',
    callers: { 'api-gateway': [...anyActor, ...withoutActor], cli: withoutActor },
    summary: 'One agent by slug; 404 when no agent has it.',
    request: Type.Object({ slug }),
    reply: AgentOut,
  }),
};
