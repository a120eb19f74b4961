/** Scene 5: a visitor without an account chats with the agent. */
import type { LlmServer } from '../../libs/product/testing/llm.ts';
import type { Narrator } from './narrator.ts';
import { agentSlug } from './people.ts';
import { callApi, type DemoPlatform } from './platform.ts';

const questions = ['Hello! What is an open circle?', 'And what happens with what I say?'];

interface Turn {
  visitor_id: string;
  agent_html: string;
}

export async function chat(platform: DemoPlatform, narrator: Narrator, model: LlmServer | undefined): Promise<void> {
  narrator.step(
    'A visitor chats with the agent',
    'No account is needed. The agent has its instructions and remembers the thread; the reply comes back as HTML that every messenger understands.',
  );
  const agent = (await callApi(platform, 'GET', `/api/agents/${agentSlug}/`)).json as { name: string; prompt: string };
  narrator.result(`agent "${agent.name}": ${agent.prompt.split('\n')[0]}`);
  if (model !== undefined)
    narrator.result('no language model is configured (LLM_BASE_URL), so a small scripted server answers');
  let visitorId: string | undefined;
  for (const question of questions) {
    const json = { body: question, ...(visitorId === undefined ? {} : { visitor_id: visitorId }) };
    const turn = (await callApi(platform, 'POST', `/api/chat/${agentSlug}/message/`, { token: null, json }))
      .json as Turn;
    visitorId = turn.visitor_id;
    narrator.quote(`visitor: ${question}\n${agent.name.toLowerCase()}: ${turn.agent_html}`);
  }
  narrator.result(`visitors write on a page of their own: ${platform.baseUrl}/chat/${agentSlug}`);
  narrator.result(`both turns are in one thread; \`npm run --silent cli -- agents record ${agentSlug}\` shows it`);
}
