// Prints the resolved projects of a jest configuration as one line of JSON. It runs no
// test. Works with jest 27 to 30, as a module or a plain script.
const request = JSON.parse(process.argv.find((a) => a.startsWith('{"owed":')));
const answer = (value) =>
  new Promise((done) => process.stdout.write(`\n${JSON.stringify({ owed: "jest", ...value })}\n`, done));

const KEYS = [
  "automock", "dependencyExtractor", "extensionsToTreatAsEsm", "filter", "globalSetup", "globalTeardown",
  "moduleDirectories", "moduleFileExtensions", "modulePathIgnorePatterns", "modulePaths", "prettierPath",
  "resolver", "rootDir", "roots", "runner", "runtime", "setupFiles", "setupFilesAfterEnv", "snapshotResolver",
  "snapshotSerializers", "testEnvironment", "testMatch", "testPathIgnorePatterns", "testRunner",
];

const describe = (project, global, listed) => {
  const out = {};
  for (const key of KEYS) if (project[key] !== undefined && project[key] !== null) out[key] = project[key];
  out.listed = listed;
  out.displayName = project.displayName?.name ?? null;
  out.testRegex = (project.testRegex ?? []).map((r) => (typeof r === "string" ? r : r.source));
  out.moduleNameMapper = Object.fromEntries(project.moduleNameMapper ?? []);
  out.transform = Object.fromEntries((project.transform ?? []).map(([regex, path, options]) => [regex, [path, { tsconfig: options?.tsconfig ?? null }]]));
  out.haste = { hasteImplModulePath: project.haste?.hasteImplModulePath ?? null };
  out.testEnvironmentOptions = { customExportConditions: project.testEnvironmentOptions?.customExportConditions ?? null };
  out.reporters = (global.reporters ?? []).map((r) => (Array.isArray(r) ? r[0] : r));
  out.testSequencer = global.testSequencer ?? null;
  return out;
};

const load = async () => {
  const { createRequire } = await import("node:module");
  const { join } = await import("node:path");
  process.env.NODE_ENV ??= "test";
  const here = createRequire(join(process.cwd(), "owed.js"));
  const jest = createRequire(here.resolve("jest/package.json"));
  let config;
  try {
    config = jest("jest-config");
  } catch {
    config = createRequire(jest.resolve("jest-cli"))("jest-config");
  }
  const argv = { _: [], $0: "jest" };
  if (request.config && !request.config.endsWith("package.json")) argv.config = request.config;
  if (request.rootDir) argv.rootDir = request.rootDir;
  const projects = request.projects?.length ? request.projects : [process.cwd()];
  const { globalConfig, configs } = await config.readConfigs(argv, projects);
  const own = configs.length === 1 && configs[0].rootDir === globalConfig.rootDir;
  return configs.map((c) => describe(c, globalConfig, !own));
};

load().then(
  (projects) => answer({ projects }),
  (error) => answer({ error: String(error?.message ?? error).split("\n").find((l) => l.trim()) ?? "it failed" }),
).then(() => process.exit(0));
