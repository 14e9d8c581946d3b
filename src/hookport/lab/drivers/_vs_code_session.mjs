// One prompt for VS Code's chat: a server of the editor, a browser without a screen that opens it, and an
// extension of ours in it that submits the prompt and reports the end.
//
//   node _vs_code_session.mjs PROMPT FOLDER SHARED PROGRAM...
//
// SHARED keeps what is unpacked once. The browser is that of the package beside the program, or one on PATH.

import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [prompt, folder, shared, ...program] = process.argv.slice(2)
const EXTENSION = fileURLToPath(new URL('_vs_code_extension', import.meta.url))
const BROWSERS = ['chromium-headless-shell', 'chromium', 'google-chrome']
const FLAGS = ['--headless', '--no-sandbox', '--no-proxy-server', '--no-first-run', '--disable-gpu',
  '--disable-dev-shm-usage', '--enable-logging=stderr', '--remote-debugging-port=0', '--window-size=1400,900']
const OPTIONS = ['--auth=none', '--bind-addr=127.0.0.1:0', '--disable-telemetry', '--disable-update-check',
  '--disable-getting-started-override']
const children = []

// Each child has its own process group, because a launcher may not pass a signal on.
function start (argv, environment) {
  const child = spawn(argv[0], argv.slice(1), {
    env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'], detached: true
  })
  children.push(child)
  child.stderr.pipe(process.stderr)
  child.on('error', error => finish(1, `cannot start ${argv[0]}: ${error.message}`))
  child.on('exit', code => finish(1, `${argv[0]} ended with ${code}`))
  return child
}

function finish (code, text) {
  const stream = code ? process.stderr : process.stdout
  for (const child of children) {
    try { process.kill(-child.pid, 'SIGKILL') } catch { /* it has ended */ }
  }
  stream.write(`${text}\n`, () => process.exit(code))
}

// Wait for the extension's report.
async function listen () {
  const server = createServer(async (request, response) => {
    const { result, error } = JSON.parse((await request.setEncoding('utf8').toArray()).join(''))
    response.end()
    finish(error || result?.errorDetails ? 1 : 0, error ?? JSON.stringify(result))
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${server.address().port}`
}

// Find the browser's program and the environment that it needs.
async function findBrowser () {
  const unpacked = join(shared, 'browser')
  if (existsSync(unpacked) || await unpack(unpacked)) {
    const libraries = { LD_LIBRARY_PATH: join(unpacked, 'al2023', 'lib') }
    return [join(unpacked, 'chromium'), { ...libraries, FONTCONFIG_FILE: join(unpacked, 'fonts.conf') }]
  }
  const folders = process.env.PATH.split(delimiter)
  return [BROWSERS.flatMap(name => folders.map(path => join(path, name))).find(existsSync), {}]
}

// Unpack the browser of the package beside the program, with the libraries and fonts that a machine without a
// desktop lacks; false without such a package. Another run may do the same now, and one of them wins.
async function unpack (place) {
  let module
  try {
    module = createRequire(realpathSync(program.at(-1))).resolve('@sparticuz/chromium')
  } catch {
    return false
  }
  const draft = mkdtempSync(`${place}~`)
  const { TMPDIR } = process.env
  // It unpacks the libraries too where it believes to run on Lambda.
  Object.assign(process.env, { TMPDIR: draft, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' })
  const { default: chromium } = await import(pathToFileURL(module))
  await chromium.executablePath()
  Object.assign(process.env, { TMPDIR })
  writeFileSync(join(draft, 'fonts.conf'), `<fontconfig><dir>${join(place, 'fonts')}</dir></fontconfig>`)
  try {
    renameSync(draft, place)
  } catch {
    rmSync(draft, { recursive: true })
  }
  return true
}

const [browser, needs] = await findBrowser()
if (browser) {
  const data = join(process.env.XDG_DATA_HOME, 'code-server')
  cpSync(EXTENSION, join(data, 'extensions', 'hookport.lab-1.0.0'), { recursive: true })
  const editor = start([...program, ...OPTIONS], { LAB_PROMPT: prompt, LAB_REPORT: await listen() })
  for await (const line of createInterface({ input: editor.stdout })) {
    process.stderr.write(`${line}\n`)
    const [, url] = / listening on (http:\S+)/.exec(line) ?? []
    if (url) {
      const profile = `--user-data-dir=${join(process.env.TMPDIR, 'browser')}`
      start([browser, ...FLAGS, profile, `${url}?folder=${encodeURIComponent(folder)}`], needs).stdout.resume()
    }
  }
} else {
  finish(1, `no browser: none of ${BROWSERS.join(', ')} is on PATH`)
}
