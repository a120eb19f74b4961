/** Checks the identity provider, for `doctor`. */
import { CliError, describeFailure } from '../failure.ts';

/** @returns a description of the provider. @throws CliError with the attempt and the cause */
export async function checkIssuer(issuer: string, allowedHosts: string): Promise<string> {
  const [{ createProvider, findUrlProblem }, { createOutbound }] = await Promise.all([
    import('#libs/infrastructure/oidc'),
    import('#libs/infrastructure/outbound'),
  ]); // these modules are slow to load
  const problem = findUrlProblem(issuer, allowedHosts);
  if (problem !== undefined) throw new CliError(`OIDC_ISSUER ${problem}`);
  const outbound = createOutbound({ allowedHosts, baseUrls: [issuer], connectTimeoutMs: 3_000 });
  try {
    const { keys } = await createProvider({ issuer, outbound, allowedHosts }).readKeys();
    return `${issuer} answers, ${keys.length} keys`;
  } catch (error) {
    throw new CliError(
      `${issuer}: ${describeFailure(error).split('\n')[0] ?? ''}. Tokens with keys unknown to the gateway get 503. Check OIDC_ISSUER.`,
    );
  } finally {
    await outbound.close();
  }
}
