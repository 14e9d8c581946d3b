// The extension that submits the prompt in VS Code's chat, as a person does, and reports its end.

const { commands, lm } = require('vscode')

// The model of the settings that the driver writes.
const MODEL = { vendor: 'customendpoint' }

// Copilot's extension is off until chat has been set up, and knows the model some time after that.
async function awaitModel () {
  const hasModel = async () => (await lm.selectChatModels(MODEL)).length > 0
  let heard
  const known = new Promise(resolve => {
    heard = lm.onDidChangeChatModels(async () => { if (await hasModel()) resolve() })
  })
  if (!await hasModel()) await known
  heard.dispose()
}

async function submit (query) {
  await commands.executeCommand('workbench.action.chat.triggerSetupAnonymousWithoutDialog')
  await awaitModel()
  const options = { query, mode: 'agent', modelSelector: MODEL, blockOnResponse: true }
  return commands.executeCommand('workbench.action.chat.open', options)
}

exports.activate = async () => {
  const { LAB_PROMPT, LAB_REPORT } = process.env
  const outcome = await submit(LAB_PROMPT).then(result => ({ result }), error => ({ error: String(error.stack) }))
  await fetch(LAB_REPORT, { method: 'POST', body: JSON.stringify(outcome) })
}
