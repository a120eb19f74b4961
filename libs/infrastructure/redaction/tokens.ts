/** Patterns of tokens with a prefix set by their issuer, and of URLs whose path is a secret. */

/** Where a token may start: not within a word, but after an escape such as `%20` or `\n`. */
const edge = String.raw`(?:(?<![0-9A-Za-z_-])|(?<=%[0-9A-Fa-f]{2}|\\[bfnrt]|\\u[0-9A-Fa-f]{4}))`;
const rest = String.raw`[0-9A-Za-z_-]`;

/** Prefixes that do not occur in ordinary words. */
const prefixes =
  'gsk_ xai- nvapi- pplx- r8_ hvs. hvb. hvr. GOCSPX- pypi- dckr_pat_ dckr_oat_ ATATT3x ATCTT3x sq0atp- sq0csp- sq0idp- tskey- csk- tgp_v1_ tvly- jina_ e2b_ pcsk_ lsv2_ ' +
  'glsa_ glc_ lin_api_ lin_oauth_ figd_ figu_ ntn_ rdme_ rubygems_ rnd_ xkeysib- xsmtpsib- sntrys_ sntryu_ shippo_live_ shippo_test_ shpat_ shpss_ shpca_ shppa_ dop_v1_ doo_v1_ ' +
  'dor_v1_ dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. duffel_live_ duffel_test_ FLWSECK- FLWSECK_TEST- fm1r_ fm1a_ fm2_ fio-u- bkua_ CLOJARS_ CFPAT- HRKU- NRAK- NRII- NRJS- ' +
  'NRRA- sha256~ pscale_tkn_ pscale_pw_ pscale_oauth_ PMAK- phx_ pnu_ sgp_ sqp_ squ_ sqa_ sbp_ sb_secret_ tfp_ vcp_ vercel_blob_rw_ VF.DM. xau_ zpka_ nfp_ polar_oat_ polar_whs_ ' +
  'glagent- gloas- glffct- glwt- glrtr- sk-lf- CCIPAT_ CCIPRJ_ ops_eyJ waka_ apify_api_';
/** Prefixes that ordinary words can have: letters and digits must follow, with at least one digit. */
const ambiguousPrefixes =
  'hf_ npm_ api_org_ secret_ key- pubkey- fw_ fc- pa- re_ ion_ ico- ico_ aio_ dapi pul- pnb_ ddp_ ddo_ napi_ ctp_ fo1_ EAAA EZAK EZTK ATBB ATTA ABSK LTAI AKCp AQVN BBDC- GR1348941 sl.';

/** Patterns of tokens that a prefix alone does not identify. */
const marks = [
  String.raw`svc_(?:agentic|key|invite)_[0-9A-Za-z]+_[0-9A-Za-z_-]+`,
  String.raw`whsec_[0-9A-Za-z+/=_-]{8,}`,
  String.raw`cal_(?:(?:live|test)_[0-9A-Za-z_-]{8,}|[0-9a-f]{24,})`,
  String.raw`gh[oprsu]_[0-9A-Za-z]{12,}`,
  String.raw`github_pat_[0-9A-Za-z_]{12,}`,
  String.raw`gl(?:pat|dt|ptt|rt|soat|cbt|ft|imt)-[0-9A-Za-z_.-]{8,}`,
  String.raw`[prs]k_(?:live|test)_[0-9A-Za-z_]{8,}`,
  String.raw`x(?:ox[a-z](?:\.xox[a-z])?|app)-[0-9A-Za-z-]{8,}`,
  String.raw`AGE-SECRET-KEY-1[0-9A-Z]{20,}`,
  String.raw`(?<![0-9])[0-9]{6,12}(?::|%3[Aa])[0-9A-Za-z_-]{30,}`,
];
/** Like `marks`, but other words can end with these prefixes, so the token must start at an `edge`. */
const marksAtEdges = [
  String.raw`sk-(?:proj|ant|or|svcacct|admin)-${rest}{8,}`,
  String.raw`sk-(?=[0-9A-Za-z_-]{0,60}[0-9])${rest}{12,}`,
  String.raw`sk_[0-9a-f]{32,}`,
  String.raw`(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{12,}`,
  String.raw`AIza${rest}{30,}`,
  String.raw`EAA[0-9A-Za-z]{20,}`,
  String.raw`re_[0-9A-Za-z]{6,12}_[0-9A-Za-z]{16,}`,
  String.raw`pat-[a-z]{2}[0-9]-[0-9a-f-]{30,}`,
  String.raw`SK[0-9a-f]{32}(?![0-9A-Za-z])`,
  String.raw`ya29\.${rest}{16,}`,
  String.raw`1//0${rest}{20,}`,
  String.raw`pat[0-9A-Za-z]{14}\.[0-9a-f]{32,}`,
  String.raw`dt0[a-z][0-9]{2}\.[0-9A-Z]{20,}\.[0-9A-Z]{30,}`,
  String.raw`[0-9A-Za-z]{14}\.atlasv1\.${rest}{30,}`,
  String.raw`[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])`,
  String.raw`[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,}`,
  String.raw`SG\.${rest}{16,}\.${rest}{16,}`,
  String.raw`eyJ${rest}{8,}\.${rest}+(?:\.${rest}*)?`,
];

const oneOf = (list: string): string => list.replaceAll('.', '\\.').replaceAll(' ', '|');
const prefixed = [
  String.raw`(?:${oneOf(prefixes)})[0-9A-Za-z_+/=.~-]{9,}[0-9A-Za-z_=-]`,
  String.raw`(?:${oneOf(ambiguousPrefixes)})(?=[A-Za-z]{0,60}[0-9])[0-9A-Za-z]{18,}(?:[_-][0-9A-Za-z]{1,200}){0,9}`,
];

export const tokens = new RegExp(
  [...marks, String.raw`${edge}(?:${[...marksAtEdges, ...prefixed].join('|')})`].join('|'),
  'g',
);

/** Patterns of URLs with a secret path. Group 1, the text before the secret, is not redacted. */
export const secretPaths: readonly RegExp[] = [
  /(\/bot)[0-9]{1,20}(?::|%3[Aa])[^\s/?#"'<>\\]{1,500}/g,
  /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]+/gi,
  /(discord(?:app)?\.com\/api\/(?:v[0-9]{1,2}\/)?webhooks\/[0-9]{1,20}\/)[\w-]+/gi,
  /(teams\.(?:live|microsoft)\.com\/[^\s?"'<>]{1,500}\?(?:[\w.-]{1,40}=[^\s&#"'<>]{0,200}&(?:amp;)?){0,8}p=)[\w.-]+/gi,
  /(hooks\.zapier\.com\/hooks\/[a-z]{1,20}\/[0-9]{1,20}\/)[\w/-]+/gi,
  /(hook\.(?:[a-z0-9-]{1,20}\.)?(?:make|integromat)\.com\/)\w+/gi,
  /(maker\.ifttt\.com\/(?:trigger\/[\w-]{1,100}\/(?:json\/)?with|use)(?:\/key)?\/)[\w-]+/gi,
  /((?:webhook\.office\.com\/webhookb2|outlook\.office(?:365)?\.com\/webhook)\/)[\w@/-]+/gi,
  /(\/open-apis\/bot\/v2\/hook\/)[\w-]+/gi,
  /(events\.pagerduty\.com\/(?:integration|generic)\/)\w+/gi,
  /(calendar\.google\.com\/calendar\/(?:u\/[0-9]\/)?ical\/[^\s/"'<>]{1,300}\/private-)\w+/gi,
  /(\/hooks\/)[a-z0-9]{26}(?![a-z0-9])/g,
];

const pause = '(?:[,;]|%2C|%3B)';
/** Digits dialled after a phone number: a meeting id and its passcode. Lists of numbers have neither `#` nor `*`. */
export const dialled = new RegExp(
  `((?<![0-9])\\+?[0-9(][0-9() ./-]{5,24})${pause}{1,12}(?:(?=(?:[0-9,;*]|%2[ACac]|%3[Bb]){0,60}(?:[#*]|%23))|(?<=tel:[+0-9() ./-]{6,26}${pause}{1,12}))(?:[0-9*#,;]|%2[3ACac]|%3[Bb]){1,120}`,
  'gi',
);
