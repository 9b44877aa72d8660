# Reads the reports of this study in base R, and undoes their randomization.
#
#     source("study.R")
#     study <- read_study()                       # of this folder
#     share(study, "harassed")                    # the share of each answer
#     share(study, "harassed", by = "team")       # the same in groups of another question
#     difference(study, "harassed", by = "team")  # between these groups
#     average(study, "years")                     # of a number or a scale; takes by, too
#     debiased(study, "harassed")                 # a matrix of weights, to compute with
#
# Each row is a respondent. Columns noisy_... are randomized reports: a table or a model of them is
# of the noise. Columns debiased_... are weights, whose means are unbiased shares; so are the means
# of products of weights of two questions, unless together.csv lists both: their noise is not
# independent, which by = knows. attr(study, "codebook") says what the columns are. Every standard
# error includes the randomization. Intervals are Clopper and Pearson's, or those of the empirical
# likelihood, Fieller's theorem, or Student's t, as conf_method says. The word few in the column
# flag warns that an interval depends on reports of which there are too few.

read_study <- function(folder = ".") {
  read <- function(name) .table(file.path(folder, name))
  .study(read("reports.csv"), read("codebook.csv"), read("together.csv"))
}

.study <- function(data, codes, together) {
  numbers <- c("code", "score", "epsilon", "p", "q", "portion")
  for (column in intersect(numbers, names(codes))) {
    codes[[column]] <- as.numeric(codes[[column]])
  }
  for (name in names(data)) {
    own <- codes[codes$variable == name, ]
    if (nrow(own) == 0) {
      data[[name]] <- as.numeric(data[[name]])
      attr(data[[name]], "label") <- .label_of_weight(name, codes)
      next
    }
    if (!anyNA(own$code)) {
      told <- make.unique(paste("reports:", own$label))
      data[[name]] <- factor(data[[name]], levels = own$code, labels = told)
    }
    attr(data[[name]], "label") <- paste("NOISY report, do not tabulate:", own$text[1])
  }
  together$excess <- as.numeric(together$excess)
  attr(data, "together") <- together
  attr(data, "codebook") <- codes
  attr(data, "respondents") <- nrow(data)
  data
}

# The weights of a question: a row for each respondent, and a column for each answer.
debiased <- function(data, question) {
  found <- .question(data, question)
  weights <- as.matrix(as.data.frame(data)[found$weights])
  dimnames(weights) <- list(NULL, found$values)
  weights
}

share <- function(data, question, by = NULL, level = 0.95) {
  asked <- .shares_of(data, question)
  .check_level(level)
  weights <- debiased(data, question)
  if (is.null(by)) {
    return(.rows(lapply(seq_along(asked$values), function(value) {
      .share(weights[, value], asked, value, level)
    }), asked))
  }
  pair <- .pair(data, asked, weights, by)
  .rows(unlist(lapply(seq_along(pair$groups), function(group) {
    lapply(seq_along(asked$values), function(value) {
      found <- .quotient(pair$weights[, value], 1, pair$group[, group], c(0, 1), level,
                         pair$laws[[value]])
      c(list(group = pair$groups[group]), .answer(asked, value), found)
    })
  }), recursive = FALSE), asked)
}

average <- function(data, question, by = NULL, level = 0.95) {
  asked <- .number(data, question)
  .check_level(level)
  if (is.null(by)) {
    return(.rows(list(.average(asked, level)), asked))
  }
  pair <- .pair(data, asked, cbind(asked$amount, asked$there), by, asked$typical)
  .rows(lapply(seq_along(pair$groups), function(group) {
    found <- .quotient(pair$weights[, 1], pair$weights[, 2], pair$group[, group], asked$range,
                       level, pair$laws[[1]])
    c(list(group = pair$groups[group], value = "mean"), found)
  }), asked)
}

# Each group less the reference, which is the first one if none is named. Scales have shares and,
# in the last row of each group, their mean.
difference <- function(data, question, by, reference = NULL, level = 0.95) {
  asked <- .question(data, question)
  .check_level(level)
  of_shares <- of_mean <- NULL
  if (asked$kind != "number") of_shares <- .pair(data, asked, debiased(data, question), by)
  if (asked$kind == "number" || !all(is.na(asked$score))) {
    asked <- .number(data, question)
    of_mean <- .pair(data, asked, cbind(asked$amount, asked$there), by, asked$typical)
  }
  pair <- if (is.null(of_mean)) of_shares else of_mean
  if (is.null(reference)) reference <- pair$groups[1]
  base <- match(reference, pair$groups)
  if (is.na(base)) {
    stop(sprintf("reference: expected one of %s, got \"%s\"",
                 paste(pair$groups, collapse = ", "), reference), call. = FALSE)
  }
  .rows(unlist(lapply(setdiff(seq_along(pair$groups), base), function(group) {
    contrast <- function(named, amount, there, possible, law) {
      found <- .contrast(amount, there, pair$group[, group], pair$group[, base], possible, level,
                         law)
      c(list(group = pair$groups[group], reference = reference), named, found)
    }
    shares <- if (!is.null(of_shares)) lapply(seq_along(asked$values), function(value) {
      contrast(.answer(asked, value), of_shares$weights[, value], 1, c(0, 1),
               of_shares$laws[[value]])
    })
    if (is.null(of_mean)) return(shares)
    named <- c(list(value = "mean"), if (!is.null(shares)) list(label = "Mean"))
    c(shares, list(contrast(named, of_mean$weights[, 1], of_mean$weights[, 2], asked$range,
                            of_mean$laws[[1]])))
  }), recursive = FALSE), asked)
}

# What follows is used by these functions alone.

.table <- function(path, text = NULL) {
  from <- if (is.null(text)) file(path, "r") else textConnection(text, encoding = "UTF-8")
  on.exit(close(from))
  table <- read.csv(from, colClasses = "character", na.strings = "", check.names = FALSE,
                    encoding = "UTF-8")
  # Texts that spreadsheets would run as formulas have a ' before them.
  table[] <- lapply(table, function(column) sub("^'([-=+@\t\r\n])", "\\1", column))
  table
}

.label_of_weight <- function(name, codes) {
  own <- codes[which(codes$weight == name), ]
  if (nrow(own) == 0) return("WEIGHT: see the codebook")
  what <- if (own$kind[1] == "number") "mean of the numbers" else paste("share of", own$label[1])
  sprintf("WEIGHT: mean = %s: %s", what, own$text[1])
}

.check_level <- function(level) {
  if (!is.numeric(level) || length(level) != 1 || is.na(level) || level <= 0 || level >= 1) {
    stop("level: expected a number between 0 and 1, such as 0.95", call. = FALSE)
  }
}

# A question, or one option of several, named question.option.
.question <- function(data, name) {
  codes <- attr(data, "codebook")
  # Rows chosen by a noisy column are a group of reports, and not of people.
  if (is.null(codes) || !identical(nrow(data), attr(data, "respondents"))) {
    stop("data: expected all rows of the study; to compare groups, take by =", call. = FALSE)
  }
  if (!is.character(name) || length(name) != 1) {
    stop("question: expected the id of one question as text", call. = FALSE)
  }
  own <- codes[codes$question == name, ]
  if (nrow(own) > 0) {
    own <- own[!is.na(own$weight), ]
    if (nrow(own) == 0) {
      stop(sprintf("%s: its reports have no weights; its estimates are in estimates.csv", name),
           call. = FALSE)
    }
    many <- own$kind[1] == "choices"
    return(list(question = name, kind = own$kind[1], values = own$value, labels = own$label,
                weights = own$weight, p = own$p, q = own$q, portion = own$portion[1],
                asked = !is.na(data[[own$variable[1]]]), draw = own$draw[1],
                divisor = own$divisor[1],
                columns = if (many) paste(name, own$value, sep = ".") else rep(name, nrow(own)),
                score = own$score, size = if (many) 2 else nrow(own)))
  }
  own <- codes[paste(codes$question, codes$value, sep = ".") == name & codes$kind == "choices", ]
  if (nrow(own) == 1) {
    before <- paste0(sub("^noisy_", "debiased_", own$variable), "_", gsub("\\W", "_", own$value),
                     "_")
    weights <- names(data)[startsWith(names(data), before)]
    values <- gsub("_", "-", substring(weights, nchar(before) + 1))
    first <- match(own$weight, weights)
    p <- q <- rep(NA_real_, length(weights))
    p[first] <- own$p
    q[first] <- own$q
    return(list(question = own$question, kind = "option", values = values, labels = values,
                weights = weights, p = p, q = q, portion = own$portion,
                asked = !is.na(data[[own$variable]]), draw = own$draw,
                columns = rep(name, length(weights)), score = rep(NA_real_, length(weights)),
                size = length(weights)))
  }
  known <- unique(codes$question[!is.na(codes$weight)])
  stop(sprintf("question: expected one of %s, got \"%s\"", paste(known, collapse = ", "), name),
       call. = FALSE)
}

.shares_of <- function(data, name) {
  found <- .question(data, name)
  if (found$kind == "number") {
    stop(sprintf("%s: it asks for a number, which has no shares: take average()", name),
         call. = FALSE)
  }
  found
}

# This takes a number, or a scale whose points count as numbers. It returns the amounts, and whether
# they are there, which are 0 for no answer; and both of an average report.
.number <- function(data, name) {
  found <- .question(data, name)
  scored <- !is.na(found$score)
  if (found$kind != "number") {
    if (!any(scored)) {
      stop(sprintf("%s: expected a question that asks for a number or a scale; take share()", name),
           call. = FALSE)
    }
    weights <- debiased(data, name)
    points <- ifelse(scored, found$score, 0)
    there <- if (all(scored)) rep(1 / found$portion, nrow(data)) else rowSums(weights[, scored, drop = FALSE])
    return(c(found, list(amount = drop(weights %*% points), there = there,
                         range = range(points[scored]), typical = c(mean(points), mean(scored)))))
  }
  range <- as.numeric(strsplit(found$values[1], "..", fixed = TRUE)[[1]])
  there <- if (is.na(found$divisor)) rep(1, nrow(data)) else data[[found$divisor]]
  c(found, list(amount = as.numeric(data[[found$weights[1]]]), there = as.numeric(there),
                range = range, typical = c(0, 1)))
}

# Weights of a question and of the groups, of those who were asked both; and for each weight the law
# of its products: how much more than a product they are, and weights of an average report, of the
# question and of the group, and what an average report counts for in the size of the group.
.pair <- function(data, asked, weights, by, typical = c(1 / asked$size, 1)) {
  groups <- .question(data, by)
  if (groups$kind == "number") {
    stop(sprintf("by: expected a question with few answers, got %s, which asks for a number", by),
         call. = FALSE)
  }
  if (groups$kind == "choices") {
    stop(sprintf("by: expected one option, such as %s", groups$columns[1]), call. = FALSE)
  }
  laws <- lapply(asked$columns, function(column) {
    both <- attr(data, "together")
    row <- both$first == column & both$second == groups$columns[1]
    row <- row | (both$second == column & both$first == groups$columns[1])
    if (any(row)) return(c(both$excess[row], typical[1], 1 / groups$size, typical[2]))
    if (asked$question == groups$question ||
        (!is.na(asked$draw) && asked$draw %in% groups$draw)) {
      stop(sprintf("%s and %s: expected questions that reports tell of together", column,
                   groups$columns[1]), call. = FALSE)
    }
    c(0, 0, 0, 0)
  })
  told <- asked$asked & groups$asked
  list(groups = groups$values, laws = laws, weights = weights[told, , drop = FALSE] * asked$portion,
       group = debiased(data, by)[told, , drop = FALSE] * groups$portion)
}

.product <- function(one, other, law) one * other + law[1] * (one - law[2]) * (other - law[3])

# The size of a group, of those who gave an answer that counts.
.size <- function(there, group, law) .product(there, group, law[c(1, 4, 3)])

.answer <- function(asked, value) {
  list(value = asked$values[value], label = asked$labels[value])
}

.rows <- function(rows, asked) {
  table <- do.call(rbind, lapply(rows, as.data.frame, stringsAsFactors = FALSE))
  cbind(question = asked$question, table, stringsAsFactors = FALSE)
}

.found <- function(estimate, std_error, ends, method, n, few = FALSE) {
  list(estimate = estimate, std_error = std_error, conf_low = ends[1], conf_high = ends[2],
       conf_method = method, n = n, flag = if (few) "few" else "")
}

.clipped <- function(x, least = 0, most = 1) pmin(most, pmax(least, x))

# How far inside a border a normal mean is nearly as likely as at it: docs/methods.md, (14).
.within <- function(beyond, reach, most) min(most, sqrt(reach^2 + beyond^2) - beyond)

# docs/methods.md, (6): the ends of the chance of support, mapped through the channel.
clopper_pearson <- function(x, m, p, q, level) {
  tail <- (1 - level) / 2
  bottom <- if (x <= 0) 0 else qbeta(tail, x, m - x + 1)
  top <- if (x >= m) 1 else qbeta(1 - tail, x + 1, m - x)
  sort(.clipped((c(bottom, top) - q) / (p - q)))
}

# (8): all shares that the likelihood-ratio test does not reject.
profile_likelihood <- function(x, m, p, q, level) {
  height <- function(share) {
    support <- min(1 - 1e-16, max(1e-30, q + (p - q) * share))
    (if (x > 0) x * log(support) else 0) + (if (x < m) (m - x) * log1p(-support) else 0)
  }
  best <- .clipped((x / m - q) / (p - q))
  least <- height(best) - qchisq(level, 1) / 2
  end <- function(border) {
    if (height(border) >= least) return(border)
    inside <- best
    outside <- border
    for (step in 1:60) {
      middle <- (inside + outside) / 2
      if (height(middle) >= least) inside <- middle else outside <- middle
    }
    outside
  }
  c(end(0), end(1))
}

# (3) and (4): a share, and its standard error, of m reports of which x support it.
share_of_support <- function(x, m, p, q) {
  value <- (x / m - q) / (p - q)
  support <- .clipped(q + (p - q) * .clipped(value, 1 / (m + 2), 1 - 1 / (m + 2)))
  c(value, sqrt(support * (1 - support) / m) / abs(p - q))
}

.share <- function(weights, asked, value, level) {
  # Who was not asked counts for nothing, and the others for more.
  told <- weights[asked$asked] * asked$portion
  m <- length(told)
  if (m < 2) stop("expected two reports at least", call. = FALSE)
  p <- asked$p[value]
  q <- asked$q[value]
  named <- .answer(asked, value)
  support <- q + (p - q) * told
  # The weights have 9 or 10 digits.
  if (!anyNA(support) && all(abs(support - round(support)) < 1e-6)) {
    x <- sum(round(support))
    found <- share_of_support(x, m, p, q)
    ends <- clopper_pearson(x, m, p, q, level)
    method <- "clopper-pearson"
    if (ends[1] >= ends[2]) {
      ends <- profile_likelihood(x, m, p, q, level)
      method <- "profile-likelihood"
    }
    return(c(named, .found(found[1], found[2], ends, method, m)))
  }
  c(named, .mean_of(told, 1, c(0, 1), level))
}

.average <- function(asked, level) {
  # Who was not asked counts for nothing, and the others for more.
  told <- asked$asked
  c(list(value = "mean"), .mean_of(asked$amount[told] * asked$portion,
                                   asked$there[told] * asked$portion, asked$range, level))
}

# (12): a ratio of two means, by Fieller's theorem with Student's t.
.mean_of <- function(amount, there, possible, level) {
  n <- length(amount)
  there <- rep_len(there, n)
  a <- mean(amount)
  b <- mean(there)
  covariance <- cov(cbind(amount, there)) / n
  if (var(there) < 1e-14) covariance[, 2] <- covariance[2, ] <- 0
  value <- a / b
  apart <- amount - value * there
  error <- sqrt(max(0, sum(c(1, -value) * (covariance %*% c(1, -value))))) / b
  few <- !isTRUE(n >= 25 * (mean(apart^3) / mean(apart^2)^1.5)^2 &&
                   max(abs(apart)) <= 0.3 * n * b * error)
  found <- .fieller(a, b, covariance, possible, qt((1 + level) / 2, n - 1))
  method <- if (found$method == "fieller" && covariance[2, 2] == 0) "student-t" else found$method
  .found(value, error, found$ends, method, n, few)
}

.fieller <- function(above, below, covariance, possible, reach) {
  a <- below^2 - reach^2 * covariance[2, 2]
  b <- above * below - reach^2 * covariance[1, 2]
  c <- above^2 - reach^2 * covariance[1, 1]
  if (below <= 0 || a <= 0) return(list(ends = possible, method = "none"))
  middle <- b / a
  half <- sqrt(max(0, b^2 - a * c)) / a
  ends <- c(max(possible[1], middle - half), min(possible[2], middle + half))
  if (ends[1] < ends[2]) return(list(ends = ends, method = "fieller"))
  if (half == 0) return(list(ends = possible, method = "none"))
  beyond <- max(possible[1] - middle, middle - possible[2])
  width <- .within(beyond, half, diff(possible))
  ends <- if (middle < possible[1]) possible[1] + c(0, width) else possible[2] - c(width, 0)
  list(ends = ends, method = "constrained-likelihood")
}

# (19): a share or mean in a group, as the ratio of two means of products of weights.
.quotient <- function(amount, there, group, possible, level, law) {
  n <- length(amount)
  there <- rep_len(there, n)
  above <- .product(amount, group, law)
  below <- .size(there, group, law)
  size <- mean(below)
  kinds <- .kinds(amount, there, group, law)
  if (size <= 0) return(.found(NA_real_, NA_real_, possible, "none", n))
  value <- mean(above) / size
  error <- sd(above - value * below) / size / sqrt(n)
  few <- .is_few(kinds)
  found <- .empirical(kinds, possible, level)
  .found(value, error, found$ends, found$method, n, few)
}

# How often each kind of pair was reported. Kinds that are possible, but that nobody reported, are
# listed with 0 where their scores are the least or the largest.
.kinds <- function(amount, there, group, law) {
  scores <- complex(real = amount, imaginary = there)
  own <- unique(scores)
  groups <- unique(group)
  place <- match(scores, own) + length(own) * (match(group, groups) - 1)
  times <- tabulate(place, length(own) * length(groups))
  seen <- which(times > 0)
  first <- own[(seen - 1) %% length(own) + 1]
  second <- groups[(seen - 1) %/% length(own) + 1]
  ends <- expand.grid(own = own, group = range(groups))
  list(times = c(times[seen], rep(0, nrow(ends))),
       above = c(.product(Re(first), second, law), .product(Re(ends$own), ends$group, law)),
       below = c(.size(Im(first), second, law), .size(Im(ends$own), ends$group, law)))
}

.is_few <- function(kinds) {
  value <- sum(kinds$times * kinds$above) / sum(kinds$times * kinds$below)
  apart <- kinds$above - value * kinds$below
  for (end in range(apart)) {
    if (end != 0 && sum(kinds$times[apart / end > 0.5]) < 5) return(TRUE)
  }
  FALSE
}

# (20): the empirical likelihood's interval of a ratio of two means.
.empirical <- function(kinds, possible, level) {
  times <- kinds$times
  reach <- sqrt(qchisq(level, 1))
  size <- sum(times * kinds$below)
  none <- list(ends = possible, method = "none")
  if (size <= 0 || .fall(times, kinds$below) <= reach) return(none)
  value <- sum(times * kinds$above) / size
  apart <- max(abs(kinds$above - value * kinds$below))
  if (apart <= 1e-9 * max(abs(kinds$below)) * max(1, abs(value))) return(none)
  fall <- function(other) .fall(times, kinds$above - other * kinds$below)
  inside <- .clipped(value, possible[1], possible[2])
  if (inside != value) reach <- sqrt(reach^2 + fall(inside)^2)
  end <- function(border) {
    if (inside == border || fall(border) <= reach) return(border)
    uniroot(function(other) fall(other) - reach, c(inside, border), tol = 1e-10)$root
  }
  list(ends = c(end(possible[1]), end(possible[2])), method = "empirical-likelihood")
}

# The root of twice the log-likelihood that expectation 0 of these scores costs.
.fall <- function(times, scores) {
  least <- min(scores)
  most <- max(scores)
  scores <- scores[times > 0]
  times <- times[times > 0]
  if (least >= 0 || most <= 0) return(if (any(scores != 0)) 100 else 0)
  low <- -1 / most
  high <- -1 / least
  tilt <- 0
  for (step in 1:100) {
    parts <- scores / (1 + tilt * scores)
    slope <- sum(times * parts)
    bend <- sum(times * parts^2)
    if (slope > 0) low <- tilt else high <- tilt
    if (slope^2 <= 1e-9 * bend || high - low < 1e-10 * max(high, -low)) break
    tilt <- tilt + slope / bend
    if (!(low < tilt && tilt < high)) tilt <- (low + high) / 2
  }
  min(100, sqrt(max(0, 2 * sum(times * log1p(tilt * scores)))))
}

# The difference of two such ratios, by Fieller's theorem (12); or, where reports are few, made of
# both intervals by MOVER (44).
.contrast <- function(amount, there, group, base, possible, level, law) {
  n <- length(amount)
  there <- rep_len(there, n)
  parts <- cbind(.product(amount, group, law), .size(there, group, law),
                 .product(amount, base, law), .size(there, base, law))
  m <- colMeans(parts)
  wide <- c(possible[1] - possible[2], possible[2] - possible[1])
  one <- .quotient(amount, there, group, possible, level, law)
  other <- .quotient(amount, there, base, possible, level, law)
  few <- "few" %in% c(one$flag, other$flag)
  if (m[2] <= 0 || m[4] <= 0) return(.found(NA_real_, NA_real_, wide, "none", n, few))
  slopes <- rbind(c(m[4], -m[3], -m[2], m[1]), c(0, m[4], 0, m[2]))
  joint <- slopes %*% (cov(parts) / n) %*% t(slopes)
  above <- m[1] * m[4] - m[3] * m[2]
  below <- m[2] * m[4]
  value <- above / below
  error <- sqrt(max(0, sum(c(1, -value) * (joint %*% c(1, -value))))) / below
  found <- .fieller(above, below, joint, wide, qnorm((1 + level) / 2))
  if (few && found$method != "none") {
    x <- .clipped(c(one$estimate, other$estimate), possible[1], possible[2])
    found$ends <- c(
      x[1] - x[2] - sqrt((x[1] - one$conf_low)^2 + (other$conf_high - x[2])^2),
      x[1] - x[2] + sqrt((one$conf_high - x[1])^2 + (x[2] - other$conf_low)^2)
    )
    found$ends <- .clipped(found$ends, wide[1], wide[2])
    found$method <- "mover"
  }
  .found(value, error, found$ends, found$method, n, few)
}
