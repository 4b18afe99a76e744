// Prints the resolved projects of a vitest configuration as one line of JSON. It runs no
// test and listens on no port. Works with vitest 1 to 4, as a module or a plain script.
const request = JSON.parse(process.argv.find((a) => a.startsWith('{"owed":')));
const answer = (value) =>
  new Promise((done) => process.stdout.write(`\n${JSON.stringify({ owed: "vitest", ...value })}\n`, done));

const plain = (value, depth = 0) => {
  if (value === undefined || value === null) return null;
  if (value instanceof RegExp) return { $regex: [value.source, value.flags] };
  if (typeof value === "function") return { $unknown: "a function" };
  if (typeof value !== "object") return typeof value === "bigint" ? Number(value) : value;
  if (depth > 6) return { $unknown: "a deep value" };
  if (Array.isArray(value)) return value.map((v) => plain(v, depth + 1));
  const out = {};
  for (const key of Object.keys(value)) if (value[key] !== undefined) out[key] = plain(value[key], depth + 1);
  return out;
};

const KEYS = [
  "root", "dir", "include", "exclude", "includeSource", "typecheck", "setupFiles", "globalSetup",
  "environment", "environmentMatchGlobs", "runner", "snapshotEnvironment", "snapshotSerializers", "diff",
  "pool", "css", "browser", "poolOptions", "poolMatchGlobs",
];

const describe = (project, listed, builtIn) => {
  const config = project.config;
  const vite = (project.vite ?? project.server ?? project.viteServer).config;
  const test = {};
  for (const key of KEYS) if (config[key] !== undefined) test[key] = plain(config[key]);
  test.name = typeof config.name === "object" ? config.name?.label : config.name;
  test.snapshotSerializers = (config.snapshotSerializers ?? []).filter((s) => typeof s === "string");
  test.reporters = (config.reporters ?? []).flat().filter((r) => typeof r === "string");
  test.typecheck = {
    enabled: Boolean(config.typecheck?.enabled),
    only: Boolean(config.typecheck?.only),
    include: config.typecheck?.include,
    exclude: config.typecheck?.exclude,
    tsconfig: config.typecheck?.tsconfig,
    checker: config.typecheck?.checker,
  };
  test.sequence = {
    shuffle: plain(config.sequence?.shuffle ?? false),
    concurrent: Boolean(config.sequence?.concurrent),
  };
  const { toFake, toNotFake, shouldAdvanceTime } = config.fakeTimers ?? {};
  test.fakeTimers = { toFake: plain(toFake), toNotFake: plain(toNotFake), shouldAdvanceTime: Boolean(shouldAdvanceTime) };
  test.browser = { enabled: Boolean(config.browser?.enabled) };
  test.css = config.css === false ? false : null;
  if (config.resolveSnapshotPath) test.resolveSnapshotPath = true;
  if (typeof config.runner !== "string" || /[\\/]node_modules[\\/]/.test(config.runner)) delete test.runner;
  return {
    name: test.name || project.name || null,
    listed,
    root: config.root ?? vite.root,
    configFile: typeof vite.configFile === "string" ? vite.configFile : null,
    envDir: vite.envDir === false ? false : (vite.envDir ?? null),
    test,
    resolve: {
      alias: plain(vite.resolve?.alias ?? []),
      conditions: plain(vite.resolve?.conditions ?? []),
      extensions: plain(vite.resolve?.extensions ?? []),
      mainFields: plain(vite.resolve?.mainFields ?? []),
      tsconfigPaths: Boolean(vite.resolve?.tsconfigPaths),
    },
    ssr: { resolve: { conditions: plain(vite.ssr?.resolve?.conditions ?? []) } },
    plugins: (vite.plugins ?? []).filter((p) => !builtIn.has(p.name)).map((p) => ({
      name: p.name,
      hooks: Object.keys(p).filter((k) => p[k] && (typeof p[k] === "function" || typeof p[k].handler === "function")),
    })),
  };
};

const load = async () => {
  const { createRequire } = await import("node:module");
  const { pathToFileURL } = await import("node:url");
  const { join } = await import("node:path");
  process.env.VITEST ??= "true";
  process.env.TEST ??= "true";
  process.env.NODE_ENV ??= "test";
  const require = createRequire(join(process.cwd(), "owed.js"));
  const { createVitest } = await import(pathToFileURL(require.resolve("vitest/node")).href);
  // What vite adds to any configuration is no plugin of the project.
  let builtIn = new Set();
  try {
    const beside = createRequire(require.resolve("vitest/node"));
    const vite = await import(pathToFileURL(beside.resolve("vite")).href);
    const resolve = vite.resolveConfig ?? vite.default?.resolveConfig;
    const bare = await resolve({ configFile: false, logLevel: "silent" }, "serve");
    builtIn = new Set(bare.plugins.map((p) => p.name));
  } catch {}
  const options = { run: true, watch: false, ui: false, api: false, coverage: { enabled: false } };
  if (request.config) options.config = request.config;
  if (request.root) options.root = request.root;
  if (request.workspace) options.workspace = request.workspace;
  const vitest = await createVitest("test", options, { server: { middlewareMode: true, watch: null, hmr: false } });
  const projects = vitest.projects?.length ? vitest.projects : [vitest.getCoreWorkspaceProject?.() ?? vitest];
  const root = vitest.getRootProject?.() ?? vitest.getCoreWorkspaceProject?.();
  const listed = projects.length > 1 || (root && projects[0] !== root);
  return projects.map((project) => describe(project, Boolean(listed), builtIn));
};

load().then(
  (projects) => answer({ projects }),
  (error) => answer({ error: String(error?.message ?? error).split("\n")[0] }),
).then(() => process.exit(0));
