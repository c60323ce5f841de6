"""The designer: a search over all choices at once, for several objectives.

``copyback design`` works in these parts, in this order:

=============== =================================================================================
`study_file`    the study as the user says it; `study` is what it holds
`space`         keys, what each may be, and which exist only beside a choice; `space_file` reads it
`sampler`       asks Optuna for designs, and records what became of them
`runs`          plans and runs designs with the executor and the store of sweeps
`scores`        one number a design, seed and objective, over all workloads
`search`        short runs of what the sampler asks for
`survivors`     full runs, with several seeds, of those that are not clearly beaten
`dominance`     the front, and which of its designs is chosen
`importance`    how much of the differences in the space a choice explains; `model` is what
                says so, `codes` has designs as numbers
`drawn`         designs drawn evenly after the search
`surrogate`     what any design would come to, and how wrong that is; `sliders` puts it on the page
`ablation`      what the chosen design loses without one of its choices
`scheme`        settings whose gain is asked for
`against`       the best design without and with a scheme
`left`          what a study leaves for designs that are run from its page; `tried` runs them
`answer`        the result in sentences and rows; `files`, `terminal` and `page` leave it
`call`          both as functions, which return a `result` and a `baseline`
=============== =================================================================================
"""
