# What a deployment may leave as it is.

variable "settings" {
  description = "More settings of the functions by name (docs/reference/settings.md). These win over what the module sets."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for name in keys(var.settings) : contains(local.known_settings, name)])
    error_message = "Unknown settings: ${join(", ", [for name in keys(var.settings) : name if !contains(local.known_settings, name)])}. See docs/reference/settings.md."
  }
}

variable "sizes" {
  description = "Changes to the size of single functions, by name: memory, min_instances, max_instances, concurrency."
  type = map(object({
    memory        = optional(string)
    min_instances = optional(number)
    max_instances = optional(number)
    concurrency   = optional(number)
  }))
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for name in keys(var.sizes) : contains(keys(local.function_table), name)])
    error_message = "The functions are ${join(", ", keys(local.function_table))}."
  }
}

variable "traces" {
  description = "Sends the traces of the functions to Cloud Trace. A collector elsewhere: the setting OTEL_EXPORTER_OTLP_ENDPOINT."
  type        = bool
  default     = false
  nullable    = false
}

variable "firestore_location" {
  description = "Where the documents are: a region or multi-region such as eur3. Default: the region. It can't be changed."
  type        = string
  default     = null
}

variable "deletion_protection" {
  description = "Keeps the database and the buckets from being destroyed. Turn it off only to take a trial deployment down."
  type        = bool
  default     = true
  nullable    = false
}

variable "alert_emails" {
  description = "Who hears of alerts. Empty: alerts show in the console alone."
  type        = set(string)
  default     = []
  nullable    = false
}

variable "budget" {
  description = "Monthly budgets, in whole units of the billing account's currency: plinth's own project, and everything beneath the parents. Whoever applies this needs roles/billing.costsManager on the account. null: none."
  type = object({
    billing_account = string
    own             = number
    bootstraps      = number
  })
  default = null

  validation {
    condition     = var.budget == null ? true : var.budget.own >= 1 && var.budget.bootstraps >= 1 && floor(var.budget.own) == var.budget.own && floor(var.budget.bootstraps) == var.budget.bootstraps
    error_message = "Amounts are whole numbers, at least 1."
  }
}

variable "package_deletion_days" {
  description = "Days after which an installer package in the bucket is removed. 0: never."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.package_deletion_days >= 0 && floor(var.package_deletion_days) == var.package_deletion_days
    error_message = "Give a whole number of days, or 0."
  }
}
