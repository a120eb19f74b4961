/** Runs `npm run demo` against the platform of a test. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { demoValues } from '#libs/infrastructure/config';
import { findFreePort } from '../../libs/product/servers/ports.ts';
import type { TestPlatform } from './test-platform.ts';

const repoDir = join(import.meta.dirname, '..', '..');

/** Returns settings of a platform whose meeting provider and language model the demo simulates. */
export async function createDemoSettings(): Promise<Record<string, string>> {
  const [provider, model] = [await findFreePort(), await findFreePort()];
  return {
    DEMO_PROVIDER_PORT: String(provider),
    REALTIMEKIT_BASE_URL: `http://127.0.0.1:${provider}`,
    REALTIMEKIT_API_TOKEN: 'provider-token',
    DEMO_MODEL_PORT: String(model),
    LLM_BASE_URL: `http://127.0.0.1:${model}/v1`,
    LLM_API_KEY: 'model-key',
    DEMO_PASSWORD: demoValues.DEMO_PASSWORD,
    BOOKING_WEBHOOK_SECRET: '',
    ALLOW_UNSIGNED_WEBHOOKS: 'true',
  };
}

/** @param settings of the platform, and others for the demo */
export function runDemo(
  platform: TestPlatform,
  settings: Readonly<Record<string, string>>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    ...platform.runtime.settings,
    DEMO_BASE_URL: platform.baseUrl,
    ...settings,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [join('tools', 'demo', 'main.ts')], { cwd: repoDir, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
