import { describe, expect, it } from '@jest/globals';
import { readServiceSettings } from '../../libs/product/servers/service-settings.ts';
import { findMisspellings } from './misspellings.ts';

const known = new Set((await readServiceSettings()).flatMap(({ properties }) => Object.keys(properties)));

describe('misspelt settings in the environment', () => {
  it.each([
    ['LLM_BASEURL', 'LLM_BASE_URL'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['llm_base_url', 'LLM_BASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['NATS_ULR', 'NATS_URL'],
    ['S3_ACCESS_KEY', 'S3_ACCESS_KEY_ID'],
    ['S3_ENDPIONT', 'S3_ENDPOINT'],
    ['API_TOKENS', 'API_TOKEN'],
    ['BOOKING_WEBHOOKS_SECRET', 'BOOKING_WEBHOOK_SECRET'],
    ['REALTIMEKIT_BASEURL', 'REALTIMEKIT_BASE_URL'],
  ])('reports the variable %s as unknown, and suggests %s', (given, meant) => {
    expect(findMisspellings([given], known)).toEqual([
      `${given} is not a setting and is ignored. Did you mean ${meant}?`,
    ]);
  });

  it('ignores variables of the system, npm and other programs', () => {
    const others =
      `PATH HOME HOSTNAME LOGNAME PWD OLDPWD SHELL TERM LANG USER SHLVL EDITOR COLOR NODE NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_COMPILE_CACHE npm_config_cache npm_lifecycle_event INIT_CWD AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY OPENAI_API_KEY GITHUB_TOKEN NPM_TOKEN NO_COLOR CI PGHOST PGPASSWORD REDIS_URL SENTRY_DSN VAULT_TOKEN OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_PROTOCOL XDG_CACHE_HOME`.split(
        ' ',
      );
    expect(findMisspellings([...others, ...known], known)).toEqual([]);
  });
});
