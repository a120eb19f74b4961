/** Which passwords may be set. What was set before stays good: nobody is locked out by a stricter rule. */
import { isPublicSecret } from '#libs/config';

const shortest = 12;
const longest = 128;
/** Of 0 to 4: 3 is found by 10^8 tries or more, which takes centuries at the pace of our logins and hashes. */
const leastScore = 3;

type Judge = (password: string, about: string[]) => number;
let judge: Promise<Judge> | undefined;

/**
 * What is wrong with a new password, in words that follow "the password"; undefined when it is good.
 * @param email of the account, which is easy to guess
 */
export async function findPasswordProblem(password: string, email: string): Promise<string | undefined> {
  const { length } = Array.from(password);
  if (length < shortest) return `must have ${shortest} characters or more, and has ${length}`;
  if (length > longest) return `must have ${longest} characters or fewer, and has ${length}`;
  // Demo passwords are for one's own machine; elsewhere the password library refuses them.
  if (isPublicSecret(password)) return undefined;
  judge ??= loadJudge();
  const score = (await judge)(password, [email, ...email.split(/[@.+_-]/)]);
  return score >= leastScore
    ? undefined
    : 'is too easy to guess: it is a common one, follows a pattern or repeats the email. Take several words, or what a password manager makes';
}

/** Common passwords take 14 MB, and most processes never set one. */
async function loadJudge(): Promise<Judge> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
  return (password, about) => zxcvbn.check(password, about).score;
}
