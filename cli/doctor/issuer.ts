/** Whether the identity provider of some settings can be asked: of `doctor`. */
import { CliError, describeFailure } from '../failure.ts';

/** @returns what answers. @throws CliError that says what was tried and why it failed */
export async function checkIssuer(issuer: string, allowedHosts: string): Promise<string> {
  const [{ createProvider, findUrlProblem }, { createOutbound }] = await Promise.all([import('#libs/oidc'), import('#libs/outbound')]); // slow to load
  const problem = findUrlProblem(issuer, allowedHosts);
  if (problem !== undefined) throw new CliError(`OIDC_ISSUER ${problem}`);
  const outbound = createOutbound({ allowedHosts, baseUrls: [issuer], connectTimeoutMs: 3_000 });
  try {
    const { keys } = await createProvider({ issuer, outbound, allowedHosts }).readKeys();
    return `${issuer} answers, ${keys.length} keys`;
  } catch (error) {
    throw new CliError(
      `${issuer}: ${describeFailure(error).split('\n')[0] ?? ''}. Tokens of keys that the gateway does not know get 503. Is OIDC_ISSUER right?`,
    );
  } finally {
    await outbound.close();
  }
}
