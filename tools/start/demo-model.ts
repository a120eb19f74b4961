/** A replacement for a language model: replies with text of the agent's prompt, and says that it is a demo. */
import { randomBytes } from 'node:crypto';
import { defaultAnswer } from '../../libs/testing/llm-answers.ts';
import { type LlmAnswer, startLlm } from '../../libs/testing/llm.ts';

const notice = '*This is the demo model, which understands nothing. For a real one set LLM_BASE_URL.*';

export interface DemoModel {
  /** LLM_BASE_URL, LLM_MODEL and LLM_API_KEY of the demo model, and DEMO_MODEL as its mark. */
  readonly settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export const answerAsDemo: LlmAnswer = (messages) => `${defaultAnswer(messages)}\n\n${notice}`;

/** Listens on the loopback address until the platform stops. */
export async function startDemoModel(): Promise<DemoModel> {
  const model = await startLlm({ apiKey: randomBytes(24).toString('base64url'), recordsRequests: false });
  model.answerWith(answerAsDemo);
  return {
    settings: { DEMO_MODEL: 'true', LLM_BASE_URL: model.baseUrl, LLM_MODEL: 'demo', LLM_API_KEY: model.apiKey },
    stop: () => model.stop(),
  };
}
