/**
 * Simulates a language model. It replies with text of the agent's prompt, and every reply mentions that it is a demo.
 */
import { randomBytes } from 'node:crypto';
import { defaultAnswer } from '../../libs/product/testing/llm-answers.ts';
import { type LlmAnswer, startLlm } from '../../libs/product/testing/llm.ts';

const notice = '*This is the demo model, which understands nothing. For a real one set LLM_BASE_URL.*';

export interface DemoModel {
  /** LLM_BASE_URL, LLM_MODEL and LLM_API_KEY of the demo model, and DEMO_MODEL, which marks it as a demo. */
  readonly settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export const answerAsDemo: LlmAnswer = (messages) => `${defaultAnswer(messages)}\n\n${notice}`;

/** Starts the demo model on the loopback address, where it listens until the platform stops. */
export async function startDemoModel(): Promise<DemoModel> {
  const model = await startLlm({ apiKey: randomBytes(24).toString('base64url'), recordsRequests: false });
  model.answerWith(answerAsDemo);
  return {
    settings: { DEMO_MODEL: 'true', LLM_BASE_URL: model.baseUrl, LLM_MODEL: 'demo', LLM_API_KEY: model.apiKey },
    stop: () => model.stop(),
  };
}
